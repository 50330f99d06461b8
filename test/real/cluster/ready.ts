import http from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningProgram } from './process.ts';

const pollEveryMilliseconds = 40;

/** Waits until the check holds; fails at once when the program ends, with its last lines. */
export async function waitUntilReady(
  name: string,
  program: RunningProgram,
  check: () => Promise<boolean>,
  timeoutSeconds = 90,
): Promise<void> {
  const deadline = performance.now() + timeoutSeconds * 1000;
  while (!(await check())) {
    if (program.ended) throw new Error(`${name} ended while it started:\n${await program.output()}`);
    if (performance.now() > deadline) {
      throw new Error(`${name} was not ready after ${timeoutSeconds} s:\n${await program.output()}`);
    }
    await sleep(pollEveryMilliseconds);
  }
}

/** Returns whether a GET answers 200. An unreachable server is not ready. */
export function answersOk(url: string, options: { ca?: string; token?: string } = {}): Promise<boolean> {
  return new Promise((resolve) => {
    const get = url.startsWith('https:') ? https.get : http.get;
    const request = get(
      url,
      {
        agent: false,
        timeout: 2000,
        ...(options.ca === undefined ? {} : { ca: options.ca }),
        headers: options.token === undefined ? {} : { authorization: `Bearer ${options.token}` },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      },
    );
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}
