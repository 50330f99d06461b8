import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { appliedFactory } from '../../../shared/gardener/testing.ts';
import type { ExtensionStatus } from '../../../shared/gardener/types.ts';
import { type KubeObject, resources } from '../../../shared/kube/resource.ts';
import { done, requeueAfter } from '../../../shared/runtime/outcome.ts';
import { Killed, killing } from '../killing.ts';
import type { Apis } from '../stage.ts';
import { failing, PROJECT, type Project, ready, startProject, working } from './project.ts';

const map = { namespace: PROJECT, name: 'flux-status' };
const fieldManager = 'a-member';

/** Runs of `project-status` for the Shoots of one project, on embedded or real API servers. */
/** The line of a Shoot that is Ready with the release of the factory's record. */
const READY = 'Ready (v2.9.4)';

export function projectStatusSuite(name: string, startApis: () => Promise<Apis>, shoots: number): void {
  describe(name, () => {
    let apis: Apis;
    let project: Project;

    beforeAll(async () => {
      apis = await startApis();
    });
    beforeEach(async () => {
      project = await startProject(apis);
      await project.garden.delete(resources.configMaps, map, { reason: 'the test' });
      return () => project[Symbol.asyncDispose]();
    });
    afterAll(() => apis?.stop());

    const writes = () => project.requests.filter(({ method }) => method !== 'GET').map(({ method }) => method);

    it('a Shoot appears when it is Ready, with its failures and their end, and disappears with the extension', async () => {
      await project.set('one', ready);
      expect(await project.run('one')).toEqual(done);
      const isReady = { one: READY, Summary: '1 Ready, 0 progressing, 0 not Ready of 1 Shoot' };
      expect(await project.lines()).toEqual(isReady);

      await project.set('one', failing);
      expect(await project.run('one')).toEqual(done);
      expect(await project.lines()).toEqual({
        one: 'Not Ready since 2026-01-02T03:05:00Z (v2.9.4): The quota has no room.',
        Summary: '0 Ready, 0 progressing, 1 not Ready of 1 Shoot',
      });

      await project.set('one', ready);
      await project.run('one');
      expect(await project.lines()).toEqual(isReady);
      expect((await project.eventsOf('one')).sort()).toEqual([
        'FluxNotReady: Flux is not Ready: The quota has no room.',
        'FluxReady: Flux is Ready.',
        'FluxReady: Flux is Ready.',
      ]);

      await project.deleteExtension('one');
      await project.run('one');
      expect(await project.lines()).toEqual({ Summary: '0 Ready, 0 progressing, 0 not Ready of 0 Shoots' });
    });

    it('a warning about the configuration of a Shoot is beside Ready, and causes no Event', async () => {
      const warnings = ['flux-config: fluxVersion is old; use another', 'second'];
      await project.set('old', { ...ready, state: { applied: appliedFactory({ warnings }) } });
      await project.run('old');
      expect(await project.lines()).toEqual({
        old: `${READY}: flux-config: fluxVersion is old; use another.`,
        Summary: '1 Ready, 0 progressing, 0 not Ready of 1 Shoot',
      });
      expect(await project.eventsOf('old')).toEqual(['FluxReady: Flux is Ready.']);
    });

    it('a run for a Shoot that has not changed reads four objects and writes nothing', async () => {
      await project.set('same', failing);
      await project.set('other', ready);
      for (const shoot of ['same', 'other']) await project.run(shoot);
      project.requests.length = 0;
      expect(await project.run('same')).toEqual(done);
      expect(writes()).toEqual([]);
      expect(project.requests).toHaveLength(4);
    });

    it('the line of a Shoot that vanished unseen is removed by the run for the Shoot before it', async () => {
      for (const shoot of ['a', 'b', 'c', 'd']) {
        await project.set(shoot, ready);
        await project.run(shoot);
      }
      await project.vanish('c');
      await project.vanish('d');
      await project.run('a');
      expect(Object.keys((await project.lines()) ?? {}).sort()).toEqual(['Summary', 'a', 'b', 'c', 'd']);
      for (const _ of [1, 2]) await project.run('b');
      expect(await project.lines()).toEqual({
        ...{ a: READY, b: READY },
        Summary: '2 Ready, 0 progressing, 0 not Ready of 2 Shoots',
      });
    });

    it('an operation is shown when it takes longer than a minute', async () => {
      await project.set('slow', working);
      project.now = new Date('2026-01-02T03:04:25Z');
      project.requests.length = 0;
      expect(await project.run('slow')).toEqual(requeueAfter(40));
      expect(project.requests).toHaveLength(1);
      project.now = new Date('2026-01-02T03:05:05Z');
      expect(await project.run('slow')).toEqual(done);
      expect((await project.lines())?.slow).toBe('Progressing since 2026-01-02T03:04:05Z (new): Applying Flux.');
      expect(await project.eventsOf('slow')).toEqual([]);
    });

    it('a hibernated Shoot is not counted as failing', async () => {
      await project.set('asleep', failing, { spec: { hibernation: { enabled: true } } });
      await project.run('asleep');
      expect(await project.lines()).toMatchObject({ asleep: 'Hibernated (v2.9.4)' });
      await project.set('asleep', ready, { spec: { hibernation: { enabled: false } }, status: { hibernated: true } });
      expect(await project.run('asleep')).toEqual(requeueAfter(60));
      expect(await project.lines()).toMatchObject({ asleep: 'Hibernated (v2.9.4)' });
      await project.set('asleep', ready, { spec: { hibernation: { enabled: false } }, status: { hibernated: false } });
      expect(await project.run('asleep')).toEqual(done);
      expect(await project.lines()).toMatchObject({ asleep: READY });
      expect(await project.eventsOf('asleep')).toEqual([]);
    });

    it('the seed that a Shoot has left changes nothing', async () => {
      await project.set('moved', ready);
      await project.run('moved');
      const lastOperation = { ...ready.lastOperation, type: 'Migrate' } as ExtensionStatus['lastOperation'];
      await project.set('moved', { ...failing, lastOperation } as ExtensionStatus);
      project.requests.length = 0;
      await project.run('moved');
      await project.set('moved', {}, { status: { lastOperation } as never });
      await project.deleteExtension('moved');
      await project.run('moved');
      expect(writes()).toEqual([]);
      expect(await project.lines()).toMatchObject({ moved: READY });
    });

    it('a ConfigMap of this name that belongs to others is left alone, and they are informed once', async () => {
      const theirs = { apiVersion: 'v1', kind: 'ConfigMap', metadata: map, data: { one: 'Ready' } };
      const { metadata } = await project.garden.create<KubeObject>(resources.configMaps, theirs, { fieldManager });
      await project.set('one', failing);
      for (const _ of [1, 2]) expect(await project.run('one')).toEqual(done);
      expect(await project.lines()).toEqual({ one: 'Ready' });
      const { items } = await project.garden.list<KubeObject>(resources.events, { namespace: PROJECT });
      const about = items.filter(({ involvedObject }) => (involvedObject as { uid: string }).uid === metadata.uid);
      expect(about.map(({ reason, message }) => [reason, message])).toEqual([
        [
          'NotOurs',
          'ConfigMap garden-foo/flux-status was not created by shoot-flux and is left alone; delete or rename it, or label it app.kubernetes.io/managed-by=gardener-extension-shoot-flux, to see the state of Flux in your Shoots here.',
        ],
      ]);
    });

    it("what members write into it stays, except a Shoot's line when that Shoot changes", async () => {
      await project.set('one', ready);
      await project.run('one');
      await project.set('other', ready);
      const data = { one: 'broken', note: 'ours', other: 'Ready' };
      await project.garden.mergePatch(resources.configMaps, map, { data }, { fieldManager });
      await project.set('one', failing);
      await project.run('one');
      const { one, ...rest } = (await project.lines()) ?? {};
      expect(one).toContain('The quota has no room.');
      expect(rest).toEqual({
        note: 'ours',
        other: 'Ready',
        Summary: '1 Ready, 0 progressing, 1 not Ready of 2 Shoots',
      });
    });

    it('a ConfigMap that must not change ends in a line of the log, and in no retry', async () => {
      await project.set('one', ready);
      await project.run('one');
      await project.garden.mergePatch(resources.configMaps, map, { immutable: true }, { fieldManager });
      await project.set('one', failing);
      expect(await project.run('one')).toEqual(done);
      expect(project.logLines.join()).toContain('delete it if it is immutable');
    });

    it('many Shoots that change at once are all shown, and the summary is right in the end', async () => {
      const names = Array.from({ length: shoots }, (_, index) => `s${index}`);
      const stateOf = (index: number) => (index % 10 === 0 ? failing : ready);
      await inParallel(names, (shoot) => project.set(shoot, stateOf(names.indexOf(shoot))));
      const overtaken: string[] = [];
      await inParallel(names, async (shoot) => {
        if ((await project.run(shoot)).type === 'requeue') overtaken.push(shoot);
      });
      // Later and spread, as the queue does.
      for (const shoot of overtaken) await project.settle(shoot);
      const lines = await project.lines();
      const bad = Math.ceil(shoots / 10);
      expect(lines?.Summary).toBe(`${shoots - bad} Ready, 0 progressing, ${bad} not Ready of ${shoots} Shoots`);
      expect(Object.keys(lines ?? {})).toHaveLength(shoots + 1);
      expect(names.filter((shoot, index) => (lines?.[shoot] === READY) !== (index % 10 !== 0))).toEqual([]);
    });

    it('a run that is killed at any request, before or after it, leaves the same lines and Events', async () => {
      const steps: Partial<ExtensionStatus>[] = [ready, failing, ready];
      const death = killing();
      const live = async (shoot: string, step: number) => {
        for (const [index, status] of steps.entries()) {
          await project.set(shoot, status);
          const run = project.run(shoot, index === step ? death.wrap : undefined);
          if (index === step) await run.then(undefined, (error) => expect(error).toBeInstanceOf(Killed));
          if (index === step) await project.settle(shoot);
          else await run;
        }
        return (await project.eventsOf(shoot)).sort();
      };
      const undisturbed = await live('undisturbed', -1);
      expect(undisturbed).toHaveLength(3);
      let kills = 0;
      for (const step of steps.keys()) {
        for (const isAfter of [false, true]) {
          for (let at = 1; at < 20; at++) {
            death.arm(at, isAfter);
            const shoot = `killed-${step}-${isAfter}-${at}`;
            expect(await live(shoot, step), shoot).toEqual(undisturbed);
            expect((await project.lines())?.[shoot], shoot).toBe(READY);
            kills++;
            if (death.requests() < at) break;
          }
        }
      }
      const all = kills + 1;
      expect((await project.lines())?.Summary).toBe(`${all} Ready, 0 progressing, 0 not Ready of ${all} Shoots`);
      expect(kills).toBeGreaterThan(30);
    });
  });
}

/** As many at a time as the functions of one process. */
async function inParallel(names: string[], act: (name: string) => Promise<void>): Promise<void> {
  const rest = [...names];
  const worker = async () => {
    for (let name = rest.shift(); name !== undefined; name = rest.shift()) await act(name);
  };
  await Promise.all(Array.from({ length: 20 }, worker));
}
