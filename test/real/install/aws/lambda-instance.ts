import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** How an instance of a Lambda is started. */
export interface InstanceOptions {
  /** The function's name on AWS. */
  name: string;
  /** The entry of AWS's runtime client. */
  runtimeClient: string;
  /** The unpacked package. */
  folder: string;
  handler: string;
  timeoutSeconds: number;
  /** All that its process sees of the environment, besides what the runtime itself sets. */
  environment: Record<string, string>;
}

/** A process with the code of a Lambda, which handles one event at a time, as on AWS. */
export interface Instance {
  /** Milliseconds from its start until it asked for the first event. Rejects if it ended before. */
  ready: Promise<number>;
  /** Resolves with the answer. @throws Error if the process ends, fails, or takes too long */
  invoke(event: unknown): Promise<unknown>;
  readonly ended: boolean;
  readonly pid: number;
  output(): string;
  /** Kills it at once. */
  kill(): Promise<void>;
}

interface Invocation {
  id: string;
  event: unknown;
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

const API = '/2018-06-01/runtime';

/** Starts AWS's runtime client with the package of a function, and the API that AWS serves to it. */
export async function startInstance(options: InstanceOptions): Promise<Instance> {
  const { name, folder, handler, timeoutSeconds } = options;
  const isReady = Promise.withResolvers<number>();
  isReady.promise.catch(() => {});
  let current: Invocation | undefined;
  let waiting: ServerResponse | undefined;
  let output = '';
  const give = () => {
    if (waiting === undefined || current === undefined) return;
    waiting.writeHead(200, {
      'content-type': 'application/json',
      'Lambda-Runtime-Aws-Request-Id': current.id,
      'Lambda-Runtime-Deadline-Ms': String(Date.now() + timeoutSeconds * 1000),
      'Lambda-Runtime-Invoked-Function-Arn': `arn:aws:lambda:eu-central-1:123456789012:function:${name}`,
    });
    waiting.end(JSON.stringify(current.event));
    waiting = undefined;
  };
  const server = createServer(async (incoming, outgoing) => {
    const path = incoming.url ?? '';
    if (path === `${API}/invocation/next`) {
      isReady.resolve(performance.now() - started);
      waiting = outgoing;
      give();
      return;
    }
    const body = await text(incoming);
    const [, id, kind] = /\/invocation\/([^/]+)\/(response|error)$/.exec(path) ?? [];
    if (path === `${API}/init/error`) isReady.reject(new Error(`${name} did not start: ${body}`));
    if (current !== undefined && id === current.id) {
      const { resolve, reject } = current;
      current = undefined;
      if (kind === 'response') resolve(body === '' ? undefined : JSON.parse(body));
      else reject(new Error(`${name} failed: ${body}`));
    }
    outgoing.writeHead(202).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const started = performance.now();
  const child: ChildProcess = spawn(process.execPath, [options.runtimeClient, handler], {
    cwd: folder,
    env: {
      ...options.environment,
      _HANDLER: handler,
      LAMBDA_TASK_ROOT: folder,
      AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${(server.address() as AddressInfo).port}`,
      AWS_LAMBDA_FUNCTION_NAME: name,
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
      AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
      AWS_LAMBDA_LOG_STREAM_NAME: 'test',
      AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const collect = (chunk: Buffer) => {
    output = (output + chunk).slice(-20_000);
  };
  child.stdout?.on('data', collect);
  child.stderr?.on('data', collect);
  const end = Promise.withResolvers<void>();
  // Followed by 'close'.
  child.once('error', (error) => collect(Buffer.from(error.message)));
  child.once('close', () => {
    const ended = new Error(`${name} ended:\n${output.slice(-2000)}`);
    isReady.reject(ended);
    current?.reject(ended);
    current = undefined;
    server.closeAllConnections();
    server.close();
    end.resolve();
  });

  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    ready: isReady.promise,
    get ended() {
      return hasEnded();
    },
    pid: child.pid ?? 0,
    output: () => output,
    async invoke(event) {
      if (hasEnded()) throw new Error(`${name} has ended.`);
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      current = { id: randomUUID(), event, resolve, reject };
      // AWS ends an instance that takes longer than the function may.
      const limit = setTimeout(() => child.kill('SIGKILL'), timeoutSeconds * 1000);
      give();
      return promise.finally(() => clearTimeout(limit));
    },
    async kill() {
      child.kill('SIGKILL');
      await end.promise;
    },
  };
}
