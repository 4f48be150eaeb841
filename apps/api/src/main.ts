// The service's entry.
