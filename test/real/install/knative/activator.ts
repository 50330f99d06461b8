import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { freePorts, listen } from '../../cluster/ports.ts';
import { programFolder, type RunningProgram, startProgram } from '../../cluster/process.ts';
import { answersOk, waitUntilReady } from '../../cluster/start.ts';

/** Stands in for Knative Serving: starts an instance for the first request, and ends it when none has come for a while. */
export interface Activator extends AsyncDisposable {
  url: string;
  /** The instance that runs now. */
  instance(): RunningProgram | undefined;
  /** How many instances were started, and how many ended in time after SIGTERM. */
  counts: { started: number; drained: number };
  /** The output of all instances that were started. */
  output(): Promise<string>;
}

export interface ActivatorOptions {
  name: string;
  /** Arguments of Node.js; the instance listens on the port in `PORT`. */
  args: string[];
  env: Record<string, string>;
  /** How long an instance may be idle. */
  idleMs: number;
}

/** Starts without any instance. */
export async function startActivator({ name, args, env, idleMs }: ActivatorOptions): Promise<Activator> {
  const counts = { started: 0, drained: 0 };
  const outputs: (() => Promise<string>)[] = [];
  let current: Promise<{ program: RunningProgram; port: number }> | undefined;
  let program: RunningProgram | undefined;
  let inFlight = 0;
  let idle: NodeJS.Timeout | undefined;
  const ending = new Set<Promise<void>>();

  const start = async () => {
    const [port = 0] = await freePorts(1);
    const folder = await programFolder(name);
    counts.started++;
    const own = { ...env, PORT: String(port) };
    const started = await startProgram({ name, command: process.execPath, args, env: own, folder });
    program = started;
    outputs.push(() => started.output());
    await waitUntilReady(name, started, () => answersOk(`http://127.0.0.1:${port}/readyz`));
    return { program: started, port };
  };

  const instance = async () => {
    const known = await current?.catch(() => undefined);
    if (known === undefined || known.program.ended) current = start();
    return (await current) as { program: RunningProgram; port: number };
  };

  const scaleToZero = async () => {
    const known = await current?.catch(() => undefined);
    if (known === undefined || inFlight > 0 || known.program.ended) return;
    current = undefined;
    process.kill(known.program.pid, 'SIGTERM');
    const output = await endOf(known.program);
    if (output) counts.drained++;
    await known.program.stop();
  };

  const forward = async (incoming: IncomingMessage, response: ServerResponse) => {
    clearTimeout(idle);
    inFlight++;
    try {
      const body = await buffer(incoming);
      const { port } = await instance();
      await pass(port, incoming, body, response);
    } catch {
      response.writeHead(502).end();
    } finally {
      inFlight--;
      idle = setTimeout(() => {
        const done = scaleToZero().finally(() => ending.delete(done));
        ending.add(done);
      }, idleMs);
    }
  };

  const server = createServer((incoming, response) => void forward(incoming, response));
  const listening = await listen(server);
  return {
    url: `http://${listening.host}/`,
    instance: () => (program?.ended === false ? program : undefined),
    counts,
    output: async () => (await Promise.all(outputs.map((output) => output()))).join('\n'),
    async [Symbol.asyncDispose]() {
      await listening[Symbol.asyncDispose]();
      clearTimeout(idle);
      await Promise.all(ending);
      await (await current?.catch(() => undefined))?.program.stop();
    },
  };
}

/** Returns whether the program ended within its time. */
async function endOf(program: RunningProgram): Promise<boolean> {
  const deadline = performance.now() + 25_000;
  while (!program.ended && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
  return program.ended;
}

/** An instance that ends in the middle is a 502, as with Knative. */
function pass(port: number, { method, url, headers }: IncomingMessage, body: Buffer, response: ServerResponse) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const own = { ...headers, 'content-length': String(body.length) };
  delete (own as Record<string, unknown>)['transfer-encoding'];
  const sent = request({ port, host: '127.0.0.1', method, path: url, headers: own, agent: false }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
    answer.once('end', resolve);
    answer.once('error', reject);
  });
  sent.once('error', reject).end(body);
  return promise;
}
