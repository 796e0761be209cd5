/**
 * A promise that begins when somebody waits for it. One that nobody waits for starts nothing, and a rejection of it is never
 * unhandled.
 */
export class LazyPromise<Value> implements Promise<Value> {
  readonly [Symbol.toStringTag] = 'Promise'
  readonly #begin: (resolve: (value: Value) => void, reject: (error: unknown) => void) => void
  #promise: Promise<Value> | undefined

  constructor(begin: (resolve: (value: Value) => void, reject: (error: unknown) => void) => void) {
    this.#begin = begin
  }

  // oxlint-disable-next-line unicorn/no-thenable -- being a promise is the point
  then<Resolved = Value, Rejected = never>(
    fulfilled?: ((value: Value) => Resolved | PromiseLike<Resolved>) | null,
    rejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Resolved | Rejected> {
    this.#promise ??= new Promise(this.#begin)
    return this.#promise.then(fulfilled, rejected)
  }

  catch<Rejected = never>(
    rejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Value | Rejected> {
    return this.then(undefined, rejected)
  }

  finally(settled?: (() => void) | null): Promise<Value> {
    return this.then((value) => value).finally(settled)
  }
}
