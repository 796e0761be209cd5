import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Nginx {
  /** Address of a location. */
  url(location: string): string
  stop(): Promise<void>
}

/** Where Debian puts it (`apt-get install nginx-light`). */
const PROGRAM = process.env['NGINX'] ?? '/usr/sbin/nginx'

export function hasNginx(): boolean {
  return spawnSync(PROGRAM, ['-v']).status === 0
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Starts an nginx with these locations; each is the text inside its braces. */
export async function startNginx(locations: Readonly<Record<string, string>>): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'nginx-'))
  const port = await freePort()
  const blocks = Object.entries(locations).map(([path, text]) => `location ${path}/ { ${text} }`)
  const config = `
    daemon off; master_process off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
    events { worker_connections 256; }
    http {
      access_log off; client_body_temp_path ${folder}/c; proxy_temp_path ${folder}/p; fastcgi_temp_path ${folder}/f;
      uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
      server { listen 127.0.0.1:${port}; proxy_http_version 1.1; proxy_set_header Connection ""; ${blocks.join('\n')} }
    }`
  writeFileSync(join(folder, 'nginx.conf'), config)
  const child = spawn(PROGRAM, ['-c', join(folder, 'nginx.conf'), '-p', folder], { stdio: 'ignore' })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  for (let open = false; !open;) {
    if (child.exitCode !== null) throw new Error(`nginx did not start: see ${folder}/error.log`)
    open = await answers(port)
  }
  return {
    url: (location) => `http://127.0.0.1:${port}${location}`,
    async stop() {
      child.kill('SIGKILL')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => setTimeout(resolve, 20, false))
  })
}
