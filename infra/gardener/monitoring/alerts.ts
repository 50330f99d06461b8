import { stringify } from 'yaml';

/** A group of alerts, as Prometheus and a PrometheusRule have it. */
export interface AlertGroup {
  name: string;
  rules: Alert[];
}

export interface Alert {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: 'critical' | 'warning'; visibility: 'operator' };
  annotations: { summary: string; description: string };
}

/** @param forTime how long the expression must hold; undefined: once */
function alert(
  name: string,
  severity: Alert['labels']['severity'],
  forTime: string | undefined,
  { expr, ...annotations }: Alert['annotations'] & { expr: string },
): Alert {
  // Gardener's Alertmanagers route by `visibility`, and drop what has none.
  const labels = { severity, visibility: 'operator' } as const;
  return { alert: name, expr, ...(forTime !== undefined && { for: forTime }), labels, annotations };
}

/** Alerts for the process that watches clusters and runs functions. */
const controller: Alert[] = [
  alert('ShootFluxClusterDown', 'critical', '5m', {
    expr: 'min by (cluster) (shoot_flux_cluster_up) == 0',
    summary: 'shoot-flux gets no answer from cluster {{ $labels.cluster }}.',
    description: 'The changes of this cluster wait. /readyz and the log line "cluster down" say why.',
  }),
  alert('ShootFluxNotWatching', 'critical', '10m', {
    expr: 'min by (cluster) (shoot_flux_watcher_up) == 0 unless min by (cluster) (shoot_flux_cluster_up) == 0',
    summary: 'shoot-flux cannot list or watch objects of cluster {{ $labels.cluster }}, although it answers.',
    description: 'What changes there is not noticed. The lines "not ready" of /readyz say which objects, and why.',
  }),
  alert('ShootFluxDeadLetters', 'warning', undefined, {
    expr: 'sum by (function) (increase(shoot_flux_terminal_total[15m])) > 0',
    summary: 'shoot-flux has given up changes of function {{ $labels.function }}.',
    description: '/dead-letters or the dead-letter queue lists them with the reason.',
  }),
  alert('ShootFluxHeartbeatFailing', 'critical', '5m', {
    expr: 'sum by (cluster) (increase(shoot_flux_heartbeat_failures_total[5m])) > 0',
    summary: 'shoot-flux cannot write its heartbeat to seed {{ $labels.cluster }}.',
    description: 'gardenlet soon no longer trusts the health of Shoots. The log line "heartbeat failed" says why.',
  }),
  alert('ShootFluxQueueSlow', 'warning', '10m', {
    expr: 'histogram_quantile(0.9, sum by (function, le) (rate(shoot_flux_queue_age_seconds_bucket[10m]))) > 120',
    summary: 'Changes of function {{ $labels.function }} wait for minutes.',
    description: 'One in ten waits for longer than two minutes before it runs. More slots (--concurrency) may help.',
  }),
  alert('ShootFluxLandscapeRolloutPaused', 'warning', '5m', {
    expr: 'max(shoot_flux_landscape_rollout{state="paused"}) > 0',
    summary: 'The rollout of what operators change is paused, because too many Shoots failed.',
    description: '`shoot-flux status -A` names them and says how it goes on. Abort it, or continue it.',
  }),
  // A restart, and two Pods that see the same, change nothing.
  alert('ShootFluxShootsNotReady', 'warning', '5m', {
    expr: 'count(max by (project) (shoot_flux_shoots_overdue{state!="needs_user"}) > 0) > 0',
    summary: 'Flux has not been Ready in Shoots of {{ $value }} projects for 30 minutes.',
    description:
      'Failures that only a user can correct are not counted. In one project, its flux-status says what is wrong; in many, ask what they share: a seed, a Git host, a registry.',
  }),
  alert('ShootFluxReleaseBehind', 'warning', '2d', {
    expr: 'count(max by (project) (shoot_flux_shoots_behind{reason!="kubernetes"}) > 0) > 0',
    summary: 'Shoots of {{ $value }} projects run a Flux release that lacks fixes.',
    description:
      'There is a newer patch of the same minor version, or Flux no longer maintains that one. The metric shoot_flux_shoots_behind names the projects: they, or the defaults of the landscape, ask for this version, or the upgrade fails.',
  }),
];

/** Alerts for every process. */
const everywhere: Alert[] = [
  alert('ShootFluxNotReady', 'critical', '15m', {
    expr: 'min by (namespace, pod) (shoot_flux_ready) == 0',
    summary: 'shoot-flux in Pod {{ $labels.namespace }}/{{ $labels.pod }} is not ready.',
    description: '/readyz names the list, the watch or the certificate that is missing.',
  }),
];

/** Alerts for the process that serves webhooks. */
const webhooks: Alert[] = [
  alert('ShootFluxWebhookFailing', 'warning', undefined, {
    expr: 'sum by (function) (increase(shoot_flux_webhook_answers_total{result="failed"}[15m])) > 0',
    summary: 'The webhook {{ $labels.function }} of shoot-flux fails.',
    description: 'Its answers are errors of its own, not refusals. The log line "admission answered" says why.',
  }),
];

export const seedAlerts: AlertGroup[] = [{ name: 'shoot-flux', rules: [...everywhere, ...controller, ...webhooks] }];

export const admissionAlerts: AlertGroup[] = [{ name: 'shoot-flux-admission', rules: [...everywhere, ...webhooks] }];

/** Returns the file that the chart's PrometheusRule contains; Prometheus reads it, too. */
export function alertsFile(groups: AlertGroup[]): string {
  return `# Written by "npm run docs" from infra/gardener/monitoring/alerts.ts.\n${stringify({ groups }, { lineWidth: 0 })}`;
}
