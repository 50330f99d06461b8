import {
  copiesGo,
  copy,
  copyNames,
  createReferring,
  credentials,
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
  createWaiting,
  deletedShoot,
  deleteExtension,
  deployed,
  fluxRests,
  fluxWorks,
  former,
  leave,
  migrate,
  onlyFlux,
  otherBranch,
  privateRepository,
  publicRepository,
  reconcile,
  renamed,
  restore,
  rotate,
  type Step,
  unreachable,
} from './steps.ts';

/** Something happens to a Shoot; each step is followed until everybody is calm. */
export interface Life {
  name: string;
  /** Undisturbed. */
  before: Step[];
  /** Here the product is killed. */
  during: Step[];
  /** True: what is over when the next step comes leaves no trace, so that the steps may also come all at once. */
  mayHurry?: boolean;
  /** True: Flux goes in the end, but nothing of what it has deployed. */
  removes?: boolean;
  /** How long the product may go on trying without a change to be seen. Default: 30 s. */
  calmMs?: number;
}

export const lives: Life[] = [
  { name: 'a new Shoot, public repository', before: [], during: [create(publicRepository)] },
  { name: 'a new Shoot, private repository', before: [], during: [create(privateRepository)] },
  {
    name: 'another configuration before the first success',
    before: [create(publicRepository)],
    during: [config({ ...publicRepository, ...otherBranch })],
  },
  { name: 'the first success in mode Once', before: [create(publicRepository)], during: [fluxWorks] },
  {
    name: 'the first success in mode Once, and then mode Reconcile',
    before: [create(publicRepository)],
    during: [fluxWorks, config({ ...always, ...otherBranch })],
    mayHurry: true,
  },
  {
    name: 'the first success in mode ManifestsOnly',
    before: [create({ ...publicRepository, syncMode: 'ManifestsOnly' })],
    during: [fluxWorks],
  },
  {
    name: 'from Once to Reconcile',
    before: [both(create(publicRepository), fluxWorks)],
    during: [config({ ...always, ...otherBranch })],
  },
  {
    name: 'from Reconcile to Once',
    before: [both(create(always), fluxWorks)],
    during: [config({ ...publicRepository, syncMode: 'Once' })],
  },
  {
    name: 'source and Kustomization have another name',
    before: [both(renamed('old'), fluxWorks)],
    during: [renamed('new')],
  },
  {
    name: 'source and Kustomization have another name, and then another one',
    before: [both(renamed('old'), fluxWorks)],
    during: [renamed('new'), renamed('newest')],
    mayHurry: true,
  },
  {
    name: 'source and Kustomization have another name, and then the old one again',
    before: [both(renamed('old'), fluxWorks)],
    during: [renamed('new'), renamed('old')],
    mayHurry: true,
  },
  {
    name: 'source and Kustomization have another name, and then the old one again before Flux has let it go',
    before: [both(renamed('old'), fluxWorks)],
    during: [both(renamed('new'), fluxRests), renamed('old'), both(fluxWorks, renamed('old'))],
  },
  {
    name: 'nothing to synchronise any more, and then again',
    before: [both(renamed('old'), fluxWorks)],
    during: [reconcile({ providerConfig: onlyFlux }), renamed('old')],
    mayHurry: true,
  },
  { name: 'rotated credentials', before: [both(create(privateRepository), fluxWorks)], during: [rotate] },
  {
    name: 'key rotation started',
    before: [both(create(privateRepository), fluxWorks)],
    during: [askFor('start')],
  },
  {
    name: 'key rotation completed',
    before: [both(create(privateRepository), fluxWorks), askFor('start')],
    during: [askFor('complete')],
  },
  {
    name: 'a bad configuration, mended',
    before: [],
    during: [create({ ...publicRepository, repositoryBranchh: 'x' }), config(publicRepository)],
  },
  {
    name: 'the configuration goes away after the first success',
    before: [both(create(always), fluxWorks)],
    during: [config(undefined)],
  },
  {
    name: 'hibernated, changed and woken',
    before: [both(create(always), fluxWorks)],
    during: [reconcile(asleep), config({ ...always, ...otherBranch }), reconcile()],
    mayHurry: true,
  },
  { name: "taking over from 23technologies' extension", before: [former], during: [reconcile()] },
  {
    name: 'the extension leaves the Shoot, and Flux with it',
    before: [both(create(always), fluxWorks), deployed],
    during: [deleteExtension],
    removes: true,
  },
  {
    name: 'the extension leaves the Shoot before the first success',
    before: [create(publicRepository)],
    during: [deleteExtension],
    removes: true,
  },
  {
    name: 'the extension leaves the Shoot, and Flux with it, although it was let go',
    before: [both(create({ ...publicRepository, deletionPolicy: 'Uninstall' }), fluxWorks), deployed],
    during: [deleteExtension],
    removes: true,
  },
  {
    name: "the extension leaves the Shoot, and Flux is the user's",
    before: [both(create(publicRepository), fluxWorks), deployed],
    during: [deleteExtension],
  },
  {
    name: 'the extension leaves a Shoot whose API cannot be asked',
    before: [both(create(always), fluxWorks), deployed],
    during: [both(unreachable, deleteExtension)],
    calmMs: 180_000,
  },
  { name: 'migration', before: [both(create(publicRepository), fluxWorks)], during: [migrate] },
  { name: 'migration in mode Reconcile', before: [both(create(always), fluxWorks)], during: [migrate] },
  {
    name: 'restoration',
    before: [both(create(always), fluxWorks), migrate, leave],
    during: [createWaiting, restore],
  },
  {
    name: 'a new Shoot with references, whose copies come one after the other',
    before: [],
    during: [
      reconcile(referring),
      both(copy('a', token, credentials), reconcile(referring)),
      both(copy('a', variables), reconcile(referring)),
    ],
  },
  {
    name: 'rotated references',
    before: [both(copy('a', ...copyNames), reconcile(referring))],
    during: [both(copy('b', ...copyNames), reconcile(referring))],
  },
  {
    name: 'references leave the resources of the Shoot, and its configuration still names them',
    before: [both(copy('a', ...copyNames), reconcile(referring))],
    during: [both(reconcile({ providerConfig: referring.providerConfig }), copiesGo)],
  },
  {
    name: 'restoration with references, whose copies lag',
    before: [both(copy('a', ...copyNames), reconcile(referring)), fluxWorks, migrate, both(leave, copiesGo)],
    during: [
      createReferring,
      // What the Extension has listed is there before it is restored; a token is asked for anew.
      both(copy('a', credentials, variables), restore),
      both(copy('b', token), restoreAgain),
    ],
  },
  {
    name: 'the Shoot is deleted',
    before: [both(create(always), fluxWorks)],
    during: [deletedShoot, deleteExtension],
  },
];

/** What may also come all at once, while nothing of the product is there. */
export const hurried: Life[] = [
  ...lives.filter(({ mayHurry }) => mayHurry === true),
  {
    name: 'a new Shoot that loses the extension again',
    before: [],
    during: [create(always), deleteExtension],
    removes: true,
  },
  {
    name: 'source and Kustomization have another name, and then the extension leaves',
    before: [both(renamed('old'), fluxWorks), deployed],
    during: [renamed('new'), deleteExtension],
    removes: true,
  },
];
