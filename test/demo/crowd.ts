import { explain } from '../../functions/readiness/explain/explain.ts';
import { buildExamples } from '../../functions/readiness/explain/kustomization/build.examples.ts';
import { prerequisiteExamples } from '../../functions/readiness/explain/kustomization/prerequisites.examples.ts';
import { connectionExamples } from '../../functions/readiness/explain/source/connection.examples.ts';
import { credentialExamples } from '../../functions/readiness/explain/source/credentials.examples.ts';
import { repositoryExamples } from '../../functions/readiness/explain/source/repository.examples.ts';
import { emptyStatusMap, type Line, lineText, summaryOf } from '../../shared/gardener/status-map.ts';
import { apiVersionOf, type KubeObject, type Resource, resources } from '../../shared/kube/resource.ts';

const SHOOTS_OF_PROJECT = 100;
const SEEDS = ['aws-eu1', 'aws-eu2', 'gcp-eu1', 'azure-us1', 'openstack-1'];
const FLUX = ['v2.9.4', 'v2.9.4', 'v2.9.4', 'v2.8.8'];

/** The objects of an API server in this process. */
export interface Objects {
  create(object: never): unknown;
}

/** One sentence for each of twenty kinds of faults, as the product words them. */
function sentences(): string[] {
  const all = [
    ...[credentialExamples, connectionExamples, repositoryExamples, prerequisiteExamples, buildExamples].flat(),
  ].flatMap(([object, origin, messages]) => Object.keys(messages).map((message) => explain(object, message, origin)));
  const byReason = new Map(all.map(({ reason, message }) => [reason, message]));
  return [...byReason.values()].slice(0, 20);
}

/**
 * Creates Shoots that only the garden has, with the ConfigMaps `flux-status` that shoot-flux would write: to see what the
 * commands and the page make of a large landscape.
 * @param faults true: every tenth is not Ready, for one of twenty reasons, and every hundredth makes progress
 * @returns the number of projects
 */
export function createCrowd(garden: Objects, shoots: number, faults: boolean): number {
  const reasons = sentences();
  const projects = Math.ceil(shoots / SHOOTS_OF_PROJECT);
  for (let project = 0; project < projects; project++) {
    const name = `crowd-${project + 1}`;
    const namespace = `garden-${name}`;
    garden.create(objectOf(resources.namespaces, { name: namespace }));
    garden.create(objectOf(resources.projects, { name }, { spec: { namespace } }));
    const count = Math.min(SHOOTS_OF_PROJECT, shoots - project * SHOOTS_OF_PROJECT);
    const numbers = Array.from({ length: count }, (_, index) => project * SHOOTS_OF_PROJECT + index);
    for (const number of numbers) garden.create(shootOf(namespace, number));
    const data = Object.fromEntries(
      numbers.map((number) => [nameOf(number), lineText(faults ? lineOf(number, reasons) : ready(number), 300)]),
    );
    garden.create({ ...emptyStatusMap(namespace), data: { ...data, Summary: summaryOf(data) } } as never);
  }
  return projects;
}

const objectOf = (resource: Resource, metadata: KubeObject['metadata'], rest: object = {}) =>
  ({ apiVersion: apiVersionOf(resource), kind: resource.kind, metadata, ...rest }) as never;

const nameOf = (number: number) => `shoot-${number + 1}`;

const ready = (number: number): Line => ({ state: 'Ready', flux: FLUX[number % FLUX.length] });

function lineOf(number: number, reasons: readonly string[]): Line {
  const since = new Date(Date.now() - (number + 1) * 37_000).toISOString().replace(/\.\d+/, '');
  const { flux } = ready(number);
  if (number % 100 === 3)
    return { state: 'Progressing', since, after: 'new', flux, sentence: `Applying Flux ${flux}.` };
  if (number % 100 === 5) return { state: 'Hibernated', flux };
  if (number % 10 !== 0) return { state: 'Ready', flux };
  return { state: 'Not Ready', since, flux, sentence: reasons[(number / 10) % reasons.length] };
}

function shootOf(namespace: string, number: number): never {
  const seedName = SEEDS[number % SEEDS.length] ?? '';
  const labels = {
    [`name.seed.gardener.cloud/${seedName}`]: 'true',
    'extensions.extensions.gardener.cloud/shoot-flux': 'true',
    stage: number % 3 === 0 ? 'prod' : 'dev',
  };
  return objectOf(resources.shoots, { namespace, name: nameOf(number), labels }, { spec: { seedName } });
}
