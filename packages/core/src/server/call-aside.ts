/** Calls somebody who only looks on: what he throws is seen like the error of any event handler, and disturbs no reader (fault F209). */
export function callAside<Value>(callback: (value: Value) => void, value: Value): void {
  try {
    callback(value)
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
