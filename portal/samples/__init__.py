"""The sample catalog: its story is `catalog/samples/plan.yaml`, played through the ordinary functions."""
