/** Bodies to measure with: deterministic, shaped like what servers send. */

const ID = 'chatcmpl-BfVn0hPqkqCqD2WwJ1kq8aXx7T3Lz'
const HEAD = `{"id":"${ID}","object":"chat.completion.chunk","created":1749141190,"model":"sample-model-2026-01","service_tier":"default","system_fingerprint":"fp_b3f1157249","choices":[{"index":0,"delta":`
const WORDS = {
  ascii: [' the', ' quick', ' brown', ' fox', ' jumps', ' over', ' a', ' lazy', ' dog', '.'],
  cjk: ['你好', '世界', '流式', '回答', '模型', '一个', '字符', '的', '，', '工具'],
}
const encoder = new TextEncoder()

/**
 * @typedef {'text' | 'cjk' | 'obf' | 'never' | 'tools'} WireName
 * - text: one text delta per event · cjk: the same in Chinese · obf: with random padding of changing length
 * - never: a counter in front of the delta, so that no two events share their beginning
 * - tools: 8 parallel calls, fragments interleaved
 */

/** @param {WireName} name @param {number} events @returns {Uint8Array} */
export function makeWire(name, events) {
  const lines = name === 'tools' ? toolLines(events) : textLines(name, events)
  return encoder.encode(lines.map((line) => `data: ${line}\n\n`).join(''))
}

function textLines(name, events) {
  const words = name === 'cjk' ? WORDS.cjk : WORDS.ascii
  const random = mulberry32(7)
  const lines = [`${HEAD}{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}`]
  for (let i = 0; i < events; i++) {
    const word = words[Math.floor(random() * words.length)]
    const padding = name === 'obf' ? `,"obfuscation":"${padText(random)}"` : ''
    const counter = name === 'never' ? `{"seq":${i},` : '{'
    lines.push(`${counter}${HEAD.slice(1)}{"content":"${word}"},"logprobs":null,"finish_reason":null}]${padding}}`)
  }
  lines.push(`${HEAD}{},"logprobs":null,"finish_reason":"stop"}]}`, '[DONE]')
  return lines
}

function toolLines(events) {
  const lines = []
  const calls = 8
  lines.push(`${HEAD}{"role":"assistant","content":null},"logprobs":null,"finish_reason":null}]}`)
  const random = mulberry32(11)
  for (let c = 0; c < calls; c++) lines.push(`${HEAD}${firstPiece(c)},"logprobs":null,"finish_reason":null}]}`)
  const rounds = Math.max(3, Math.floor(events / calls))
  for (let r = 0; r < rounds; r++) {
    for (let c = 0; c < calls; c++) {
      const text = r === 0 ? '{\\"query\\":\\"' : r === rounds - 1 ? '\\"}' : WORDS.ascii[Math.floor(random() * 10)]
      lines.push(`${HEAD}${nextPiece(c, text)},"logprobs":null,"finish_reason":null}]}`)
    }
  }
  lines.push(`${HEAD}{},"logprobs":null,"finish_reason":"tool_calls"}]}`, '[DONE]')
  return lines
}

function firstPiece(index) {
  return `{"tool_calls":[{"index":${index},"id":"call_${index}","type":"function","function":{"name":"tool_${index}","arguments":""}}]}`
}

function nextPiece(index, text) {
  return `{"tool_calls":[{"index":${index},"function":{"arguments":"${text}"}}]}`
}

function padText(random) {
  let text = ''
  for (let n = 1 + Math.floor(random() * 16); n > 0; n--) text += String.fromCharCode(97 + Math.floor(random() * 26))
  return text
}

/** @param {Uint8Array} body @param {number | 'event'} size bytes, or one event per read @returns {Uint8Array[]} */
export function cutWire(body, size) {
  const reads = []
  if (size !== 'event') {
    for (let from = 0; from < body.length; from += size) reads.push(body.slice(from, from + size))
    return reads
  }
  let from = 0
  for (let i = 1; i < body.length; i++) {
    if (body[i] !== 10 || body[i - 1] !== 10) continue
    reads.push(body.slice(from, i + 1))
    from = i + 1
  }
  if (from < body.length) reads.push(body.slice(from))
  return reads
}

/** A stream that hands out the reads one by one, when asked. @param {readonly Uint8Array[]} reads */
export function streamOf(reads) {
  let next = 0
  return new ReadableStream(
    {
      pull(controller) {
        if (next < reads.length) controller.enqueue(reads[next++])
        else controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}

function mulberry32(seed) {
  let a = seed
  return () => {
    a = (a + 0x6d2b79f5) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
