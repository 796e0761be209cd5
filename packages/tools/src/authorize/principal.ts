/** On whose behalf a call is made, as authenticated; nothing in it comes from the model. */
export interface Principal {
  readonly user?: Actor
  /** The account the program itself runs under. With both present, both must be allowed. */
  readonly serviceAccount?: Actor
}

export interface Actor {
  readonly id: string
  /** Rights by name, such as `files:write`; compared exactly. */
  readonly permissions: readonly string[]
}
