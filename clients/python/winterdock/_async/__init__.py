"""The async half: what the sync one is printed from, but for its wire."""
