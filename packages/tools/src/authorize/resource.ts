/** What a call will touch, as its tool declares it. Each kind is checked against a boundary of its own. */
export type Resource = PathResource | UrlResource | IdResource

export interface PathResource {
  readonly kind: 'path'
  /** As the arguments name it; relative paths are taken from `root`. */
  readonly path: string
  /** Directory that must contain it, symbolic links followed. */
  readonly root: string
}

export interface UrlResource {
  readonly kind: 'url'
  readonly url: string
  readonly allow: UrlBoundary
}

/** Which URLs may be fetched. Everything that is not listed is refused. */
export interface UrlBoundary {
  /**
   * Host names, compared exactly after URL parsing (lower case, no trailing dot), or `*.example.com` for any name below it
   * (not itself). An address literal may be listed too.
   */
  readonly hosts: readonly string[]
  /** Without the colon. Default `['https']`. */
  readonly schemes?: readonly string[]
  /** Default: the port that belongs to the scheme. */
  readonly ports?: readonly number[]
  /** Lets the host be an address that is private, loopback, link-local or otherwise not public. Default false. */
  readonly privateAddresses?: boolean
}

export interface IdResource {
  readonly kind: 'id'
  /** What the id names, such as `customer`; for messages. */
  readonly type: string
  readonly id: string
  /** The developer's own check. Anything but `true` is a no. */
  readonly allowed: boolean | (() => boolean | Promise<boolean>)
}
