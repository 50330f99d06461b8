import { text as readAll } from 'node:stream/consumers';
import { ConfigError, ShootFluxError } from '../../../shared/errors.ts';
import { readDocument } from '../../cli/read-file.ts';
import { checkVersion } from '../../release/notes.ts';
import { valuesIssues } from './chart-values.ts';
import type { Release } from './registration.ts';

/** Host, port and path, as they begin the name of an image. */
const REGISTRY = /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:\d+)?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*$/;

/** What a command line says about a release. */
export interface Inputs {
  version: string;
  registry: string;
  /** File with values of the chart for seeds; `-` is standard input. */
  values?: string | undefined;
}

/** Returns the release that a command line names. @throws ShootFluxError that names the wrong input */
export async function releaseOf({ version, registry, values }: Inputs): Promise<Release> {
  checkVersion(version);
  if (!REGISTRY.test(registry)) {
    throw new ShootFluxError(
      `${JSON.stringify(registry)} is not a registry; write host and path like registry.example.com/gardener, without https:// and a slash at the end.`,
    );
  }
  return { version, registry, ...(values !== undefined && { values: await readValues(values) }) };
}

async function readValues(file: string): Promise<Record<string, unknown>> {
  const ignore = () => {};
  const terminal = { out: ignore, err: ignore, stdin: () => readAll(process.stdin), environment: {} };
  const values = await readDocument(file, terminal);
  if (values === null) {
    throw new ShootFluxError(`${file} is empty; write values of the chart into it, or leave --values out.`);
  }
  if (!isObject(values)) {
    throw new ShootFluxError(`${file} is not an object with values of the chart; write them as for Helm.`);
  }
  const issues = await valuesIssues(file, values);
  if (issues.length > 0) throw new ConfigError(issues);
  return values;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
