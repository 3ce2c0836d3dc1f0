"""The sync half, printed from the async one but for its wire."""
