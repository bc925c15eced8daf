"""Forms: they judge what was sent; rules that need the record run in the domain."""
