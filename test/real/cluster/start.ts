import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from './ports.ts';

const pollEveryMilliseconds = 40;

/** How to start a program on ports of its own. */
export interface StartPlan {
  name: string;
  ports: number;
  /** Writes the program's files into its folder and says how to start it. */
  prepare(folder: string, ports: number[]): Promise<Omit<Program, 'name' | 'folder'>>;
  ready(folder: string, ports: number[]): Promise<boolean>;
}

/** Starts a program and waits until it is ready. */
export async function startReady(
  plan: StartPlan,
): Promise<{ program: RunningProgram; folder: string; ports: number[] }> {
  const folder = await programFolder(plan.name);
  const ports = await freePorts(plan.ports);
  let program: RunningProgram | undefined;
  try {
    program = await startProgram({ name: plan.name, folder, ...(await plan.prepare(folder, ports)) });
    await waitUntilReady(plan.name, program, () => plan.ready(folder, ports));
    return { program, folder, ports };
  } catch (error) {
    await program?.stop();
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

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

/** The program to start. */
export interface Program {
  /** Short name for messages and the folder. */
  name: string;
  command: string;
  args: string[];
  /** Added to this process's environment. */
  env?: Record<string, string>;
  /** A folder from `programFolder`, deleted with the process. */
  folder: string;
}

/** A started program. It ends with this process at the latest. */
export interface RunningProgram extends AsyncDisposable {
  pid: number;
  /** Set once the program has ended, for any reason. */
  readonly ended: boolean;
  /** The last lines it wrote. */
  output(): Promise<string>;
  /** Kills it and removes its folder. SIGKILL: a kube-apiserver takes up to a minute to stop gracefully. */
  stop(): Promise<void>;
}

/** A fresh folder for one program's files. */
export function programFolder(name: string): Promise<string> {
  return mkdtemp(join(tmpdir(), `shoot-flux-${name.replaceAll(/\W+/g, '-')}-`));
}

/** Starts a program; its output goes to a file, so that a busy test never makes it wait on a full pipe. */
export async function startProgram(program: Program): Promise<RunningProgram> {
  const logFile = join(program.folder, 'output.log');
  const log = await open(logFile, 'a');
  const child = spawn(program.command, program.args, {
    cwd: program.folder,
    // A kustomize-controller that starts empties the temporary folders of the others.
    // Most programs are written in Go, whose collector runs four times less often with this share of new memory.
    env: { ...process.env, TMPDIR: program.folder, GOGC: '400', ...program.env },
    stdio: ['ignore', log.fd, log.fd],
  });
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => reject(new Error(`${program.name} could not be started: ${error.message}`)));
  }).finally(() => log.close());
  const guard = guardAgainstOrphans(child, program.folder);
  // A test that forgets to stop the program must still be able to end.
  child.unref();

  const stop = async () => {
    child.kill('SIGKILL');
    child.ref();
    await ended;
    guard.kill('SIGKILL');
    await rm(program.folder, { recursive: true, force: true, maxRetries: 3 });
  };
  return {
    pid: child.pid ?? 0,
    get ended() {
      return child.exitCode !== null || child.signalCode !== null;
    },
    output: async () => (await readFile(logFile, 'utf8').catch(() => '')).slice(-6000),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/**
 * Ends the program with this process, however this process ends: test runners kill their workers, and then no exit
 * handler runs. The shell's input is a pipe that only this process holds; it closes with the process, `read` returns,
 * and the shell cleans up. Its own process group keeps it alive through Ctrl-C.
 */
function guardAgainstOrphans(child: ChildProcess, folder: string): ChildProcess {
  // A line means that the program has ended. Its process id may be reused, so only the folder is removed.
  const script = 'if read -r _; then cat > /dev/null; else kill -9 "$1"; sleep 0.2; fi; rm -rf "$2"';
  const guard = spawn('sh', ['-c', script, 'sh', String(child.pid), folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  guard.stdin?.on('error', () => {});
  child.once('exit', () => guard.stdin?.write('ended\n'));
  return guard;
}
