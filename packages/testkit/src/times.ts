// A list of so many values, for tests that make many of one kind.
/** So many values, each made of its index. */
export const times = <A>(count: number, make: (index: number) => A) =>
  Array.from({ length: count }, (_, index) => make(index))
