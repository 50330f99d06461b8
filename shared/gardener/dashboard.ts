/** The rows of a dashboard, with its graphs. */
export type Rows = [title: string, panels: object[]][];

const dataSource = {
  ...{ type: 'datasource', name: 'datasource', label: 'Prometheus', query: 'prometheus', refresh: 1, hide: 0 },
  ...{ regex: '', multi: false, includeAll: false, options: [], skipUrlSync: false },
};

type Unit = 's' | 'short' | 'reqps' | 'bytes' | 'ops';

/** Legend and PromQL expression. */
export type Series = [legend: string, expr: string];

/** Returns one value of an expression for each combination of labels. */
export function by(labels: string, expr: string, aggregation = 'sum'): Series {
  const legend = labels.replaceAll(/\w+/g, '{{$&}}').replaceAll(',', '');
  return [legend, `${aggregation} by (${labels}) (${expr})`];
}

/** Returns a graph that answers one question. */
export function panel(title: string, unit: Unit, ...series: Series[]): object {
  // Plutono, the Grafana of Gardener's seeds, has no newer kind of graph; Grafana converts this one.
  return {
    type: 'graph',
    title,
    datasource: `$${dataSource.name}`,
    lines: true,
    linewidth: 1,
    fill: 1,
    nullPointMode: 'null',
    legend: { show: true },
    tooltip: { shared: true, sort: 2 },
    xaxis: { mode: 'time', show: true },
    yaxes: [
      { format: unit, min: 0, show: true },
      { format: unit, show: false },
    ],
    targets: series.map(([legendFormat, expr], index) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      expr,
      legendFormat,
    })),
  };
}

const WIDTH = 12;
const HEIGHT = 7;

/**
 * Returns the JSON of a dashboard for Grafana and Plutono.
 * @param source the data source that is selected at first; a dashboard lets its reader choose another one
 */
export function dashboardJson(uid: string, title: string, source: string, rows: Rows): string {
  let [id, y] = [0, 0];
  const panels: object[] = [];
  for (const [title, contents] of rows) {
    panels.push({ id: ++id, type: 'row', title, collapsed: false, gridPos: { x: 0, y, w: 24, h: 1 }, panels: [] });
    y += 1;
    for (const [index, panel] of contents.entries()) {
      panels.push({ id: ++id, ...panel, gridPos: { x: (index % 2) * WIDTH, y, w: WIDTH, h: HEIGHT } });
      if (index % 2 === 1 || index === contents.length - 1) y += HEIGHT;
    }
  }
  const dashboard = {
    uid,
    title,
    tags: ['extension', 'shoot-flux'],
    timezone: 'utc',
    schemaVersion: 27,
    version: 1,
    editable: true,
    refresh: '1m',
    time: { from: 'now-3h', to: 'now' },
    templating: { list: [{ ...dataSource, current: { selected: true, text: source, value: source } }] },
    panels,
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}
