// Streams from the server that serves this page, and shows the answer at a steady rhythm however it arrives.
import { streamModel } from 'streamfold'
import { pace } from 'streamfold/pace'

const answer = document.getElementById('answer')
const status = document.getElementById('status')
let abort = new AbortController()

async function ask(question) {
  abort.abort()
  abort = new AbortController()
  const { signal } = abort
  answer.textContent = ''
  status.textContent = '…'
  const stream = streamModel({
    api: 'chat_completions',
    baseURL: `${location.origin}/v1`,
    body: { model: 'gpt-5-mini', messages: [{ role: 'user', content: question }] },
    signal,
  })
  try {
    for await (const text of pace(stream.text(), { charsPerSecond: 80, signal })) answer.append(text)
    status.textContent = stream.report().outcome
  } catch (error) {
    // What came stays; why there is no more is said beside it.
    status.textContent = signal.aborted ? 'stopped' : `${error.code ?? error.name}: ${error.message}`
  }
}

document.getElementById('form').addEventListener('submit', (event) => {
  event.preventDefault()
  void ask(new FormData(event.target).get('question'))
})
document.getElementById('stop').addEventListener('click', () => abort.abort())

// `?ask=…` asks at once.
const asked = new URLSearchParams(location.search).get('ask')
if (asked !== null) void ask(asked)
