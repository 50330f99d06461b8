import { LONGEST_REASON } from '../../shared/config/suspension.ts';
import { seconds } from '../../shared/gardener/operation.ts';
import { setSuspension } from '../fleet/act.ts';
import { openTarget, targetOptions } from '../fleet/target.ts';
import { whoAmI } from '../fleet/who.ts';
import { command, exitCodes } from './command.ts';
import { missing, text, UsageError } from './option.ts';

const notes =
  'The project is named with --project or --namespace. Source, Kustomizations and other objects that syncMode Once has\n' +
  'released are not touched. Deletion and hibernation of Shoots go on.';

/** A project is not suspended because the kubeconfig happens to name it. */
function requireProject({ project, namespace }: { project?: string; namespace?: string }): void {
  if ((project ?? namespace) === undefined) missing('--project');
}

export default command({
  name: 'suspend',
  summary: 'Suspend Flux in all Shoots of a project at once, for an incident: nothing new is applied, nothing removed.',
  options: {
    ...targetOptions,
    reason: text('TEXT', 'Why, for everybody who looks at the project.', { required: true }),
  },
  notes,
  async run({ reason = '', ...values }, _, terminal) {
    requireProject(values);
    if (reason.trim() === '') missing('--reason');
    if (reason.length > LONGEST_REASON) throw new UsageError(`--reason is longer than ${LONGEST_REASON} characters`);
    using target = await openTarget(values, terminal.environment);
    const { garden, namespace = '' } = target;
    const by = (await whoAmI(garden)) ?? 'an unknown user';
    const before = await setSuspension(garden, namespace, { by, since: seconds(Date.now()), reason: reason.trim() });
    terminal.out(
      before === undefined
        ? `Suspended Flux in all Shoots of namespace ${namespace}. Take it back with: ${target.repeat('resume')}\n`
        : `Nothing to do: namespace ${namespace} was already suspended ${before}\n`,
    );
    return exitCodes.success;
  },
});

/** The command `resume`. */
export const resumption = command({
  name: 'resume',
  summary: 'Resume Flux in all Shoots of a project that was suspended.',
  options: { ...targetOptions },
  notes,
  async run(values, _, terminal) {
    requireProject(values);
    using target = await openTarget(values, terminal.environment);
    const { namespace = '' } = target;
    const before = await setSuspension(target.garden, namespace, undefined);
    terminal.out(
      before === undefined
        ? `Nothing to do: namespace ${namespace} is not suspended.\n`
        : `Resumed Flux in all Shoots of namespace ${namespace}; it was suspended ${before}\n`,
    );
    return exitCodes.success;
  },
});
