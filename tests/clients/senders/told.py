"""What each sender tells that must not be written anywhere: made up, and of no person."""

EMAIL = "erika.mustermann@example.com"
SECRET = "hunter2-and-more"
