import { requestAll, requestOne } from '../fleet/act.ts';
import { openTarget, targetOptions } from '../fleet/target.ts';
import { command, exitCodes } from './command.ts';
import { UsageError } from './option.ts';

export default command({
  name: 'reconcile',
  summary: 'Ask Flux in a Shoot, or in all Shoots of a project, to reconcile now.',
  positionals: '[SHOOT]',
  options: { ...targetOptions },
  notes: 'Without SHOOT, --project or --namespace says of which project all Shoots are asked.',
  async run(values, [shoot, ...others], terminal) {
    if (others.length > 0) throw new UsageError('name one Shoot, or none for all of a project');
    if (shoot === undefined && (values.project ?? values.namespace) === undefined)
      throw new UsageError('name a Shoot, or add --project NAME to ask all Shoots of a project');
    using target = await openTarget(values, terminal.environment);
    const { garden, namespace = '', flags } = target;
    const now = new Date();
    if (shoot === undefined) await requestAll(garden, namespace, now);
    else await requestOne(garden, namespace, shoot, now);
    const asked = shoot === undefined ? `all Shoots of namespace ${namespace}` : `Shoot ${namespace}/${shoot}`;
    const where = ['shoot-flux status', flags].filter(Boolean).join(' ');
    terminal.out(`Asked Flux in ${asked} to reconcile now; ${where} shows the result.\n`);
    return exitCodes.success;
  },
});
