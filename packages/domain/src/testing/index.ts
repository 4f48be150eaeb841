// The package's entry.
