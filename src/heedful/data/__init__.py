"""The data side: readers, the catalog of data sets, encoding, batches, the generated corpus."""
