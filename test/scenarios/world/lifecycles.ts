import { privateRepository, publicRepository } from '../stage.ts';
import {
  copy,
  copyNames,
  createReferring,
  credentials,
  deleteCopies,
  referring,
  restoreAgain,
  token,
  variables,
} from './references.ts';
import {
  always,
  askFor,
  asleep,
  both,
  config,
  create,
  createRenamed,
  createVariables,
  createWaiting,
  deletedShoot,
  deleteExtension,
  deleteVariables,
  deployed,
  fluxAlone,
  fluxPauses,
  fluxWorks,
  former,
  inWaves,
  leave,
  migrate,
  otherBranch,
  reconcile,
  renamed,
  restore,
  resumed,
  rotate,
  type Step,
  suspended,
  unreachable,
} from './steps.ts';

/** A sequence of events for one Shoot. After each step all actors work until the world is calm. */
export interface Lifecycle {
  name: string;
  /** Steps before the part under test, without kills. */
  setup: Step[];
  /** The part under test, in which the product is killed. */
  steps: Step[];
  /** True: a state between two steps leaves no trace, so that the steps may also happen all at once. */
  mayHappenAtOnce?: boolean;
  /** True: Flux is removed in the end, but nothing that it has deployed. */
  removes?: boolean;
  /** True: in the end, nothing in the shoot is protected from the user's Kustomizations. */
  unprotects?: boolean;
  /** Paths of other objects in the shoot that are deleted. */
  deletes?: RegExp;
  /** How long the product may retry without a visible change. Default: 30 s. */
  calmMs?: number;
}

const managed = both(create(always), fluxWorks);
const once = both(create(publicRepository), fluxWorks);
const withKey = both(create(privateRepository), fluxWorks);
const named = both(renamed('old'), fluxWorks);
const withCopies = both(copy('a', ...copyNames), reconcile(referring));
const edited = config({ ...always, ...otherBranch });
const removes = true;

export const lifecycles: Lifecycle[] = [
  { name: 'a new Shoot, public repository', setup: [], steps: [create(publicRepository)] },
  { name: 'a new Shoot, private repository', setup: [], steps: [create(privateRepository)] },
  {
    name: 'another configuration before the first success',
    setup: [create(publicRepository)],
    steps: [config({ ...publicRepository, ...otherBranch })],
  },
  { name: 'the first success in mode Once', setup: [create(publicRepository)], steps: [fluxWorks] },
  {
    name: 'the first success in mode Once, and then mode Reconcile',
    setup: [create(publicRepository)],
    steps: [fluxWorks, edited],
    mayHappenAtOnce: true,
  },
  {
    name: 'the first success in mode ManifestsOnly',
    setup: [create({ ...publicRepository, syncMode: 'ManifestsOnly' })],
    steps: [fluxWorks],
  },
  { name: 'from Once to Reconcile', setup: [once], steps: [edited] },
  { name: 'from Reconcile to Once', setup: [managed], steps: [config({ ...publicRepository, syncMode: 'Once' })] },
  {
    name: 'an edit that waits for its turn in a rollout, and another one after it',
    setup: [both(create(inWaves), fluxWorks)],
    steps: [config({ ...inWaves, ...otherBranch }), config({ ...inWaves, repositoryPath: './other' })],
    calmMs: 120_000,
  },
  { name: 'source and Kustomization are renamed', setup: [named], steps: [renamed('new')] },
  {
    name: 'source and Kustomization are renamed twice',
    setup: [named],
    steps: [renamed('new'), renamed('newest')],
    mayHappenAtOnce: true,
  },
  {
    name: 'source and Kustomization are renamed, and renamed back',
    setup: [named],
    steps: [renamed('new'), renamed('old')],
    mayHappenAtOnce: true,
  },
  {
    name: 'source and Kustomization are renamed, and renamed back before Flux has removed its finalizers',
    setup: [named],
    steps: [both(renamed('new'), fluxPauses), renamed('old'), both(fluxWorks, renamed('old'))],
  },
  {
    name: 'the configuration synchronises nothing, and then something again',
    setup: [named],
    steps: [reconcile({ providerConfig: fluxAlone }), renamed('old')],
    mayHappenAtOnce: true,
  },
  { name: 'rotated credentials', setup: [withKey], steps: [rotate] },
  { name: 'key rotation started', setup: [withKey], steps: [askFor('start')] },
  { name: 'key rotation completed', setup: [withKey, askFor('start')], steps: [askFor('complete')] },
  {
    name: 'a bad configuration, then corrected',
    setup: [],
    steps: [create({ ...publicRepository, repositoryBranchh: 'x' }), config(publicRepository)],
  },
  { name: 'the configuration is deleted after the first success', setup: [managed], steps: [config(undefined)] },
  {
    name: 'hibernated, changed and woken up',
    setup: [managed],
    steps: [reconcile(asleep), edited, reconcile()],
    mayHappenAtOnce: true,
  },
  { name: 'the project is suspended and resumed', setup: [managed], steps: [suspended, resumed] },
  { name: "taking over from 23technologies' extension", setup: [former], steps: [reconcile()] },
  {
    name: 'the extension is removed from the Shoot, and Flux with it',
    setup: [managed, deployed],
    steps: [deleteExtension],
    removes,
  },
  {
    name: 'the extension is removed from the Shoot before the first success',
    setup: [create(publicRepository)],
    steps: [deleteExtension],
    removes,
  },
  {
    name: 'the extension is removed from the Shoot together with Flux, which was released',
    setup: [both(create({ ...publicRepository, deletionPolicy: 'Uninstall' }), fluxWorks), deployed],
    steps: [deleteExtension],
    removes,
  },
  {
    name: 'the extension is removed from the Shoot, and Flux belongs to the user',
    setup: [once, deployed],
    steps: [deleteExtension],
  },
  {
    name: 'the extension is removed from a Shoot whose API server does not answer',
    setup: [managed, deployed],
    steps: [both(unreachable, deleteExtension)],
    calmMs: 180_000,
  },
  { name: 'migration', setup: [once], steps: [migrate] },
  { name: 'migration in mode Reconcile', setup: [managed], steps: [migrate] },
  { name: 'restoration', setup: [managed, migrate, leave], steps: [createWaiting, restore] },
  {
    name: 'restoration after a Secret of the project, the source and the Kustomization have left the configuration',
    setup: [config(always), both(createVariables, renamed('old'), fluxWorks), deployed, migrate, leave],
    steps: [both(deleteVariables, createRenamed('new')), restore],
    deletes: /\/namespaces\/flux-system\/secrets\/flux-variables$/,
  },
  {
    name: 'restoration without the former Kustomization, which comes back before Flux has removed its finalizer',
    setup: [named, deployed, migrate, leave, createRenamed('new'), fluxPauses],
    steps: [restore, renamed('old'), both(fluxWorks, renamed('old'))],
  },
  {
    name: 'a new Shoot with references, whose copies appear one after the other',
    setup: [],
    steps: [
      reconcile(referring),
      both(copy('a', token, credentials), reconcile(referring)),
      both(copy('a', variables), reconcile(referring)),
    ],
  },
  { name: 'rotated references', setup: [withCopies], steps: [both(copy('b', ...copyNames), reconcile(referring))] },
  {
    name: 'references are removed from the resources of the Shoot, and its configuration still names them',
    setup: [withCopies],
    steps: [both(reconcile({ providerConfig: referring.providerConfig }), deleteCopies)],
  },
  {
    name: 'restoration with references, whose copies lag',
    setup: [withCopies, fluxWorks, migrate, both(leave, deleteCopies)],
    steps: [
      createReferring,
      // The objects that the Extension has listed exist before it is restored; a token is requested again.
      both(copy('a', credentials, variables), restore),
      both(copy('b', token), restoreAgain),
    ],
  },
  { name: 'the Shoot is deleted', setup: [managed], steps: [deletedShoot, deleteExtension] },
];

/** Lifecycles whose steps may also happen all at once while the product is down. */
export const lifecyclesAtOnce: Lifecycle[] = [
  ...lifecycles.filter(({ mayHappenAtOnce }) => mayHappenAtOnce === true),
  { name: 'a new Shoot that loses the extension again', setup: [], steps: [create(always), deleteExtension], removes },
  {
    name: 'source and Kustomization are renamed, and then the extension is removed',
    setup: [named, deployed],
    steps: [renamed('new'), deleteExtension],
    removes,
  },
];
