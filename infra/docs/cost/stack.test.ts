import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { findAllDefinitions, findDefinitions } from '../../functions.ts';
import { assumptions, reserved } from './assumptions.ts';
import { METRICS_OF_A_FUNCTION, stackOf } from './stack.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8');

describe('the stack on AWS', () => {
  it('has two alarms for each Lambda, two for each queue, and one for each cluster', async () => {
    const queued = (await findDefinitions()).length;
    const all = (await findAllDefinitions()).length;
    expect(await stackOf(3)).toMatchObject({
      alarms: 2 * all + 2 * queued + 4,
      secrets: 4,
      heartbeats: 4,
      fifoQueues: queued - 1,
      standardQueues: 1,
    });
  });

  it('has the memory that serverless.yml sets', () => {
    expect(parse(read('serverless.yml')).provider.memorySize).toBe(assumptions.lambdaMb);
  });

  it('has the time series that the code of a run writes', () => {
    const folders = ['events/run', 'events/sqs'];
    const code = folders
      .flatMap((folder) => readdirSync(`${root}${folder}`).map((file) => `${folder}/${file}`))
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .map(read)
      .join('\n');
    const names = new Set([...code.matchAll(/metrics\.(?:count|gauge|observe)\('(\w+)'/g)].map(([, name]) => name));
    const results = new Set([...code.matchAll(/\{ result: '(\w+)'/g)].map(([, result]) => result));
    expect(names).toContain('reconcile_total');
    expect(names.size - 1 + results.size).toBe(METRICS_OF_A_FUNCTION);
  });
});

describe('what Pods reserve', () => {
  const inMb = (memory: string) => Math.round((Number(memory.replace('Mi', '')) * 2 ** 20) / 1e6);
  const inCpus = (cpu: string) => Number(cpu.replace('m', '')) / 1000;
  const requestsOf = ({ requests }: { requests: { cpu: string; memory: string } }) => ({
    cpu: inCpus(requests.cpu),
    memoryMb: inMb(requests.memory),
  });

  it('is that of the chart', () => {
    expect(requestsOf(parse(read('charts/shoot-flux/values.yaml')).resources)).toEqual(reserved.deployment);
  });

  it('is that of the manifests for Knative', () => {
    const containersIn = (file: string) =>
      parseAllDocuments(read(file))
        .map((document) => document.toJS())
        .filter(({ spec }) => spec.template !== undefined)
        .flatMap(({ spec }) => spec.template.spec.containers);
    for (const { resources } of containersIn('infra/knative/base/services.yaml')) {
      expect(requestsOf(resources)).toEqual(reserved.service);
    }
    expect(containersIn('infra/knative/base/watcher.yaml').map(({ resources }) => requestsOf(resources))).toEqual([
      reserved.bridge,
    ]);
  });
});
