// The key to the constructors of the native face, whose objects are made by `open()` and by one another only.

export const INTERNAL = Symbol('internal');
