import { by, dashboardJson, panel, type Rows, type Series } from '../../../shared/gardener/dashboard.ts';

/** Only our processes have this label. */
const SELF = 'container=~"shoot-flux.*"';

const gauge = (metric: string, labels: string, aggregation?: string) => by(labels, `shoot_flux_${metric}`, aggregation);
const rate = (metric: string, labels: string) => by(labels, `rate(shoot_flux_${metric}[$__rate_interval])`);
const increase = (metric: string, labels: string) => by(labels, `increase(shoot_flux_${metric}[$__rate_interval])`);
const p90 = (metric: string, label = 'function', legend = ''): Series => [
  `{{${label}}}${legend}`,
  `histogram_quantile(0.9, sum by (${label}, le) (rate(shoot_flux_${metric}_bucket[$__rate_interval])))`,
];

/** Two Pods may see the same Shoots. */
const shoots = (metric: string, labels: string, own = '') =>
  by(labels, `max by (cluster, project${own}) (shoot_flux_${metric})`);

/** The rows of the dashboard: each panel answers one question. */
const rows: Rows = [
  [
    'Is it well?',
    [
      panel('Ready', 'short', gauge('ready', 'pod', 'min')),
      panel('Clusters that answer', 'short', gauge('cluster_up', 'cluster', 'min')),
      panel(
        'Dead letters',
        'short',
        ['listed', 'sum(shoot_flux_dead_letters)'],
        ['new: {{function}}', increase('terminal_total', 'function')[1]],
      ),
      panel('Failed heartbeats', 'short', increase('heartbeat_failures_total', 'cluster')),
    ],
  ],
  [
    'How are the Shoots?',
    [
      panel('By state', 'short', shoots('shoots', 'state', ', state, flux_version')),
      panel('By Flux version', 'short', shoots('shoots', 'flux_version', ', state, flux_version')),
      panel('Not Ready for 30 minutes', 'short', shoots('shoots_overdue', 'project, state', ', state')),
      panel('Flux is old or unsupported', 'short', shoots('shoots_behind', 'project, reason', ', reason')),
      panel(
        'From a request to its end, p90',
        's',
        p90('request_applied_seconds', 'operation', ': applied'),
        p90('request_ready_seconds', 'operation', ': Ready'),
      ),
      panel('Rollouts of projects', 'short', gauge('rollouts', 'state', 'max')),
      panel('Rollout of the operators', 'short', gauge('landscape_rollout', 'state', 'max')),
    ],
  ],
  [
    'Functions',
    [
      panel('Runs', 'ops', rate('reconcile_total', 'function, result')),
      panel('Duration, p90', 's', p90('reconcile_seconds')),
      panel('Wait for a run, p90', 's', p90('queue_age_seconds')),
      panel('Keys in the queue', 'short', gauge('queue_keys', 'function, state')),
      panel('Retries', 'ops', rate('retries_total', 'function')),
      panel('Restarts of the functions', 'short', [
        'restarts',
        'sum(increase(shoot_flux_functions_restarts_total[$__rate_interval]))',
      ]),
    ],
  ],
  [
    'Watcher',
    [
      panel('Watched objects', 'short', gauge('watcher_objects', 'cluster, resource')),
      panel('Changes found', 'ops', rate('watcher_changes_total', 'function')),
      panel('Ended watches', 'ops', rate('watcher_watches_total', 'cluster, resource, end')),
      panel('Failed attempts to send', 'ops', rate('watcher_send_failures_total', 'function')),
    ],
  ],
  [
    'Requests',
    [
      panel('To garden and seeds', 'reqps', rate('requests_total', 'cluster, status')),
      panel('From API servers', 'reqps', rate('webhook_answers_total', 'function, result')),
      panel('Answers of webhooks, p90', 's', p90('webhook_seconds')),
      panel('Memory', 'bytes', by('pod', `process_resident_memory_bytes{${SELF}}`)),
    ],
  ],
];

/** Generates the dashboard. The default data source of Plutono in a seed does not read our metrics. */
export function dashboardFile(): string {
  return dashboardJson('shoot-flux', 'Extension shoot-flux', 'prometheus-seed', rows);
}
