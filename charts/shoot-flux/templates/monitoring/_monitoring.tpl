{{/* Components with Pods in this release, as a JSON list. */}}
{{- define "shoot-flux.components" -}}
{{- $components := list -}}
{{- if gt (int .Values.replicaCount) 0 }}{{ $components = append $components "controller" }}{{ end -}}
{{- if include "shoot-flux.servesWebhooks" . }}{{ $components = append $components "webhooks" }}{{ end -}}
{{- toJson $components -}}
{{- end -}}

{{/* Name of a component's Deployment: `include … (dict "root" $ "component" "webhooks")`. */}}
{{- define "shoot-flux.componentName" -}}
{{- if eq .component "controller" }}{{ include "shoot-flux.fullname" .root }}{{ else }}{{ include "shoot-flux.webhooks.name" .root }}{{ end -}}
{{- end -}}
