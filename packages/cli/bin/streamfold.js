#!/usr/bin/env node
// npm links a workspace's bin only if the file exists at install time, and dist is built after that.
import { existsSync } from 'node:fs'
import process from 'node:process'

const program = new URL('../dist/main.js', import.meta.url)
if (existsSync(program)) await import(program)
else {
  process.stderr.write('streamfold: this clone is not built yet; run npm run build first\n')
  process.exitCode = 2
}
