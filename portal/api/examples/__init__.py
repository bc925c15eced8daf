"""Examples of the API's document, by subject as `shapes` is.

`tests/portal/api/test_api_schema.py` holds them against the shapes.
"""
