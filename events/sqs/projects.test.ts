import { describe, expect, it, onTestFinished } from 'vitest';
import { RetryableError } from '../../shared/errors.ts';
import type { ChangeRequest } from '../../shared/runtime/change-request.ts';
import type { Handler } from '../../shared/runtime/context.ts';
import { done } from '../../shared/runtime/outcome.ts';
import { openQueues, startEventSource } from '../../test/sqs.ts';
import { changeOf, definitionOf, functionOf, lambdaContext, lookInto, processDependencies } from '../testing.ts';
import { createVisibility } from './batcher.ts';
import { createSqsClient } from './connect.ts';
import { createSqsLambda } from './lambda.ts';
import { BATCH_SIZE, queueNames } from './queues.ts';

const NAME = 'managed-resources';
/** The default of `maximumConcurrency`. */
const INSTANCES = 10;
/** Of a third of the instances, each with a batch. */
const MOST_RUNS_OF_A_PROJECT = 3 * BATCH_SIZE;

const changeIn = (project: string, shoot: string): ChangeRequest =>
  changeOf({ key: { cluster: 'local', namespace: `shoot--${project}--${shoot}`, name: 'shoot-flux' } });

/** Changes of so many Shoots of some projects, which take turns, as the watcher sends them. */
const failing = (shoots: number, projects = 1) =>
  Array.from({ length: shoots }, (_, n) => changeIn(`failing${n % projects}`, `s${n}`));

const edit = changeIn('other', 'edited');

/** The function behind its queue, as the event source mapping calls it, without the Lambda of the delay queue. */
async function deploy(handler: Handler) {
  const queues = await openQueues([definitionOf(NAME)]);
  const client = createSqsClient(queues.endpoint);
  onTestFinished(async () => {
    client.destroy();
    await queues.stop();
  });
  const queueUrl = queueNames(NAME, queues.urlPrefix).queue;
  const lambda = createSqsLambda(functionOf(handler, NAME), {
    ...processDependencies(),
    sender: queues.sender,
    visibility: createVisibility(client, queueUrl),
  });
  const start = () => {
    const invoke = (event: Parameters<typeof lambda>[0]) => lambda(event, lambdaContext(NAME, 600));
    const source = startEventSource({ client, queueUrl, concurrency: INSTANCES, invoke });
    onTestFinished(() => source.stop());
  };
  return { ...queues, start };
}

describe('projects that share a queue', () => {
  it.each([
    ['another project', 1],
    ['three other projects', 3],
  ])('an edit runs beside 5,000 failing Shoots of %s', async (_, projects) => {
    const started: string[] = [];
    const edited = Promise.withResolvers<void>();
    const allAreBusy = Promise.withResolvers<void>();
    const { sender, start } = await deploy(async ({ namespace }) => {
      started.push(namespace);
      if (namespace === edit.key.namespace) {
        edited.resolve();
        return done;
      }
      if (started.length === INSTANCES * BATCH_SIZE) allAreBusy.resolve();
      // Their runs last until the edit has had its own, or no instance is left for it.
      await Promise.race([edited.promise, allAreBusy.promise]);
      throw new RetryableError('the shoot does not answer');
    });
    await sender.send(failing(5000, projects));
    await sender.send([edit]);
    start();
    await edited.promise;
    expect(started.indexOf(edit.key.namespace)).toBeLessThanOrEqual(projects * MOST_RUNS_OF_A_PROJECT);
  });

  it('an edit of a project does not wait for the retries of its 1,000 failing Shoots', async () => {
    const shoots = failing(1000);
    const ownEdit = changeIn('failing0', 'edited');
    const started: string[] = [];
    const all = Promise.withResolvers<void>();
    const edited = Promise.withResolvers<void>();
    const { endpoint, sender, start } = await deploy(async ({ namespace }) => {
      started.push(namespace);
      if (started.length === shoots.length) all.resolve();
      if (namespace === ownEdit.key.namespace) edited.resolve();
      throw new RetryableError('the shoot does not answer');
    });
    await sender.send(shoots);
    start();
    await all.promise;
    await sender.send([ownEdit]);
    await edited.promise;
    expect(started.indexOf(ownEdit.key.namespace)).toBe(shoots.length);
    const { ready, delayed } = await lookInto(endpoint, 'shoot-flux-delay');
    const retried = new Set([...ready, ...delayed].map(({ body }) => JSON.parse(body).key.namespace));
    expect(shoots.filter(({ key }) => !retried.has(key.namespace))).toEqual([]);
  });
});
