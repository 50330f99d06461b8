import { dashboardJson, panel, type Rows } from '../../../shared/gardener/dashboard.ts';

/** Only our processes have this label. */
const SELF = 'container=~"shoot-flux.*"';

const p90 = (metric: string) =>
  `histogram_quantile(0.9, sum by (function, le) (rate(${metric}_bucket[$__rate_interval])))`;
const rate = (metric: string, by: string) => `sum by (${by}) (rate(${metric}[$__rate_interval]))`;

/** Two Pods may see the same Shoots. */
const shoots = (metric: string, by: string, labels: string) =>
  `sum by (${by}) (max by (cluster, project${labels}) (shoot_flux_${metric}))`;
const requests = (metric: string) =>
  `histogram_quantile(0.9, sum by (operation, le) (rate(shoot_flux_request_${metric}_seconds_bucket[$__rate_interval])))`;

/** The rows of the dashboard: each panel answers one question. */
const rows: Rows = [
  [
    'Is it well?',
    [
      panel('Ready', 'short', ['{{pod}}', 'min by (pod) (shoot_flux_ready)']),
      panel('Clusters that answer', 'short', ['{{cluster}}', 'min by (cluster) (shoot_flux_cluster_up)']),
      panel(
        'Dead letters',
        'short',
        ['listed', 'sum(shoot_flux_dead_letters)'],
        ['new: {{function}}', 'sum by (function) (increase(shoot_flux_terminal_total[$__rate_interval]))'],
      ),
      panel('Failed heartbeats', 'short', [
        '{{cluster}}',
        'sum by (cluster) (increase(shoot_flux_heartbeat_failures_total[$__rate_interval]))',
      ]),
    ],
  ],
  [
    'How are the Shoots?',
    [
      panel('By state', 'short', ['{{state}}', shoots('shoots', 'state', ', state, flux_version')]),
      panel('By Flux version', 'short', [
        '{{flux_version}}',
        shoots('shoots', 'flux_version', ', state, flux_version'),
      ]),
      panel('Not Ready for 30 minutes', 'short', [
        '{{project}} {{state}}',
        shoots('shoots_overdue', 'project, state', ', state'),
      ]),
      panel('Flux lacks fixes', 'short', ['{{project}}', shoots('shoots_behind', 'project', '')]),
      panel(
        'From a request to its end, p90',
        's',
        ['{{operation}}: applied', requests('applied')],
        ['{{operation}}: Ready', requests('ready')],
      ),
      panel('Rollouts', 'short', ['{{state}}', 'max by (state) (shoot_flux_rollouts)']),
    ],
  ],
  [
    'Functions',
    [
      panel('Runs', 'ops', ['{{function}} {{result}}', rate('shoot_flux_reconcile_total', 'function, result')]),
      panel('Duration, p90', 's', ['{{function}}', p90('shoot_flux_reconcile_seconds')]),
      panel('Wait for a run, p90', 's', ['{{function}}', p90('shoot_flux_queue_age_seconds')]),
      panel('Keys in the queue', 'short', [
        '{{function}} {{state}}',
        'sum by (function, state) (shoot_flux_queue_keys)',
      ]),
      panel('Retries', 'ops', ['{{function}}', rate('shoot_flux_retries_total', 'function')]),
      panel('Restarts of the functions', 'short', [
        'restarts',
        'sum(increase(shoot_flux_functions_restarts_total[$__rate_interval]))',
      ]),
    ],
  ],
  [
    'Watcher',
    [
      panel('Watched objects', 'short', [
        '{{cluster}} {{resource}}',
        'sum by (cluster, resource) (shoot_flux_watcher_objects)',
      ]),
      panel('Changes found', 'ops', ['{{function}}', rate('shoot_flux_watcher_changes_total', 'function')]),
      panel('Ended watches', 'ops', [
        '{{cluster}} {{resource}} {{end}}',
        rate('shoot_flux_watcher_watches_total', 'cluster, resource, end'),
      ]),
      panel('Failed attempts to send', 'ops', [
        '{{function}}',
        rate('shoot_flux_watcher_send_failures_total', 'function'),
      ]),
    ],
  ],
  [
    'Requests',
    [
      panel('To garden and seeds', 'reqps', [
        '{{cluster}} {{status}}',
        rate('shoot_flux_requests_total', 'cluster, status'),
      ]),
      panel('From API servers', 'reqps', [
        '{{function}} {{result}}',
        rate('shoot_flux_webhook_answers_total', 'function, result'),
      ]),
      panel('Answers of webhooks, p90', 's', ['{{function}}', p90('shoot_flux_webhook_seconds')]),
      panel('Memory', 'bytes', ['{{pod}}', `sum by (pod) (process_resident_memory_bytes{${SELF}})`]),
    ],
  ],
];

/** Generates the dashboard. The default data source of Plutono in a seed does not read our metrics. */
export function dashboardFile(): string {
  return dashboardJson('shoot-flux', 'Extension shoot-flux', 'prometheus-seed', rows);
}
