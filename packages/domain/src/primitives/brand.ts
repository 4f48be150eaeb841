// A nominal type over a plain one: a value gets its brand only in the module that checks it.
declare const brand: unique symbol

export type Brand<A, Name extends string> = A & { readonly [brand]: Name }
