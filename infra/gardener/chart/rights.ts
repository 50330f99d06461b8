import { stringify } from 'yaml';
import type { PolicyRule } from '../../../shared/runtime/definition.ts';
import { type AnyDefinition, isWebhook } from '../../functions.ts';
import { type Identity, identitiesIn } from '../rbac.ts';

/** The rights of one identity, as the chart's templates read them. */
interface Rights {
  /** Rights in the whole cluster. */
  rules?: PolicyRule[];
  /** Rights in the namespace of the release. */
  own?: PolicyRule[];
}

/** The rights of the identities by the process that they belong to. */
type ChartRights = Record<'functions' | 'watcher' | 'webhooks', Record<string, Rights>>;

/** Names of the identities that belong to the process of the webhooks, beside the webhook functions. */
const ofWebhooks = ['webhooks'];
/** Names of the identities that belong to the process of the watcher. */
const ofWatcher = ['watcher', 'heartbeat'];

/** Generates the file with the rights in a seed, from which the chart's templates render roles and bindings. */
export function chartRights(definitions: AnyDefinition[]): string {
  const webhooks = [...definitions.filter(isWebhook).map(({ name }) => name), ...ofWebhooks];
  const identities = identitiesIn(definitions, 'seed');
  const rights: ChartRights = {
    functions: rightsOf(identities.filter(({ name }) => !webhooks.includes(name) && !ofWatcher.includes(name))),
    watcher: rightsOf(identities.filter(({ name }) => ofWatcher.includes(name))),
    webhooks: rightsOf(identities.filter(({ name }) => webhooks.includes(name))),
  };
  const title =
    '# Written by "npm run docs" from the functions\' definitions: the rights of each identity in a seed.\n';
  return `${title}${stringify(rights, { lineWidth: 0, aliasDuplicateObjects: false })}`;
}

function rightsOf(identities: Identity[]): Record<string, Rights> {
  return Object.fromEntries(
    identities.map(({ name, rules, own }) => [name, { ...(rules.length > 0 && { rules }), ...(own && { own }) }]),
  );
}
