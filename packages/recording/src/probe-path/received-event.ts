import { createEventStreamParser } from 'streamfold'

/** An event of the source as it came out of the path; its data begins with its place. */
export interface ReceivedEvent {
  readonly place: number
  readonly data: string
  readonly hasId: boolean
  readonly endOffset: number
}

export function eventsIn(body: Uint8Array): readonly ReceivedEvent[] {
  const parser = createEventStreamParser({ offsets: true })
  return [...parser.push(body), ...parser.end()].map(({ data, id, endOffset = 0 }) => {
    const place = Number.parseInt(data, 10)
    return { place, data, hasId: id === String(place), endOffset }
  })
}
