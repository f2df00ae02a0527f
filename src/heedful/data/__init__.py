"""The data side: readers, the catalogue of data sets, encoding, batches, the generated corpus."""
