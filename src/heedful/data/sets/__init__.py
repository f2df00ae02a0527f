"""The known data sets: what an entry is, and the entries by what they hold."""
