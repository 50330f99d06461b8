import type { Output } from './output.ts';

/** The log line of one function run, as the product writes it. */
interface RunLine {
  level: string;
  message: string;
  function?: string;
  key?: string;
  causes?: string;
  outcome?: string;
  durationMs?: number;
  afterSeconds?: number;
  error?: string;
}

export type Runs = ReturnType<typeof createRuns>;

/** Prints every run of a function with its key, duration and causes, and the product's warnings and errors. */
export function createRuns(output: Output) {
  let muted = false;
  return {
    /** Stops printing. */
    mute() {
      muted = true;
    },
    /** Reads one line of the product's log. */
    write(text: string) {
      if (muted) return;
      const line = JSON.parse(text) as RunLine;
      if (line.message === 'reconcile finished' && line.function !== undefined) {
        showRun(output, line);
      } else if (line.level === 'warn' || line.level === 'error') {
        output.line('shoot-flux', [line.message, line.error].filter(Boolean).join(': '), 'yellow');
      }
    },
  };
}

function showRun(output: Output, run: RunLine): void {
  const duration = `${run.durationMs ?? 0} ms`.padStart(7);
  const about = (run.key ?? '').split('/').slice(1).join('/');
  const causes = [...new Set((run.causes ?? '').split(', ').map(readable))].join(', ');
  const ending = {
    done: '',
    requeue: `, runs again in ${Math.round(run.afterSeconds ?? 0)} s`,
    retry: `, failed: ${run.error}; retries in ${Math.round(run.afterSeconds ?? 0)} s`,
    dead_letter: `, given up: ${run.error}`,
  }[run.outcome ?? 'done'];
  const failed = run.outcome === 'retry' || run.outcome === 'dead_letter';
  output.line(`ƒ ${run.function}`, `${duration}  ${about}  <- ${causes}${ending ?? ''}`, failed ? 'yellow' : 'dim');
}

/** Returns the cause without resourceVersion and time, which only matter to the product. */
function readable(cause: string): string {
  if (cause.startsWith('notBefore')) return 'its own request';
  if (cause.startsWith('resync')) return 'resync';
  return cause.replace(/ \d+$/, '');
}
