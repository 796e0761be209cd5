import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Undefined where there is no nginx on this machine. */
export function findNginx(): string | undefined {
  const found = ['nginx', '/usr/sbin/nginx', '/usr/local/sbin/nginx', '/opt/homebrew/bin/nginx'].find(
    (path) => spawnSync(path, ['-v']).status === 0,
  )
  return found
}

export interface Nginx {
  readonly url: string
  stop(): void
}

/** Starts nginx in front of `upstream`, one location per name with these directives. Its master is up when this resolves. */
export async function startNginx(
  binary: string,
  upstream: string,
  locations: Readonly<Record<string, string>>,
): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'streamfold-nginx-'))
  const port = await freePort()
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const blocks = Object.entries(locations).map(
    ([name, directives]) => `location /${name} { proxy_pass ${upstream}; ${directives} }`,
  )
  const config = join(folder, 'nginx.conf')
  writeFileSync(
    config,
    `master_process off;
    pid ${folder}/nginx.pid;
    error_log ${folder}/error.log;
    events { worker_connections 64; }
    http {
      access_log off;
      ${temp.join('\n')}
      server {
        listen 127.0.0.1:${port};
        ${blocks.join('\n')}
      }
    }
    `,
  )
  // It puts itself into the background once it listens.
  const started = spawnSync(binary, ['-p', folder, '-c', config, '-e', `${folder}/error.log`], {
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  if (started.status !== 0) throw new Error(`nginx did not start: ${started.stderr}`)
  const pid = Number(readFileSync(join(folder, 'nginx.pid'), 'utf8'))
  return {
    url: `http://127.0.0.1:${port}/`,
    stop: () => {
      process.kill(pid)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
