/** One event of a `text/event-stream` body. JSON holds no line break, so one `data` line is always enough. */
export function eventText(payload: object, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(payload)}\n\n`
}
