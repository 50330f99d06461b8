{{/*
"true" where an optional object is rendered: `include … (dict "root" $ "enabled" .Values.vpa.enabled)`. `auto` is true
where Gardener installs the chart: its clusters have the kinds of the vertical Pod autoscaler and of Prometheus.
*/}}
{{- define "shoot-flux.isEnabled" -}}
{{- if or (eq (toString .enabled) "true") (and (eq (toString .enabled) "auto") .root.Values.gardener) }}true{{ end -}}
{{- end -}}
