def light(): pass
