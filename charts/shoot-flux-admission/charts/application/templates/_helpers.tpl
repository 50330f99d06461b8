{{/* A version as the value of a label, which may not contain `+` nor be longer than 63 characters. */}}
{{- define "shoot-flux-admission.labelValue" -}}
{{- regexReplaceAll "[^A-Za-z0-9]+$" (. | replace "+" "_" | trunc 63) "" -}}
{{- end -}}

{{/* Labels of an object that Gardener's resource-manager creates and never updates: a version would become wrong. */}}
{{- define "shoot-flux-admission.stableLabels" -}}
app.kubernetes.io/name: shoot-flux
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: admission
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{/* Labels of all other objects. */}}
{{- define "shoot-flux-admission.labels" -}}
{{ include "shoot-flux-admission.stableLabels" . }}
app.kubernetes.io/version: {{ include "shoot-flux-admission.labelValue" .Chart.AppVersion | quote }}
helm.sh/chart: {{ include "shoot-flux-admission.labelValue" (printf "%s-%s" .Chart.Name .Chart.Version) }}
{{- end -}}

{{/* The ServiceAccount of gardener-operator, if there is one. */}}
{{- define "shoot-flux-admission.givenAccount" -}}
{{- ((.Values.gardener).virtualCluster).serviceAccount | default dict | toYaml -}}
{{- end -}}

{{/* Namespace of the Service: both parts are one release where the garden is its own runtime cluster. */}}
{{- define "shoot-flux-admission.serviceNamespace" -}}
{{- .Values.service.namespace | default (ternary .Release.Namespace "garden" (eq .Values.clientConfig.mode "service")) -}}
{{- end -}}

{{/* The ServiceAccount of the Pods: that of gardener-operator, or one of our own. */}}
{{- define "shoot-flux-admission.account" -}}
{{- $given := include "shoot-flux-admission.givenAccount" . | fromYaml -}}
{{- $namespace := ternary (include "shoot-flux-admission.serviceNamespace" .) .Release.Namespace (eq .Values.clientConfig.mode "service") -}}
{{- dict "kind" "ServiceAccount" "name" ($given.name | default .Values.serviceAccount.name) "namespace" ($given.namespace | default $namespace) | toYaml -}}
{{- end -}}
