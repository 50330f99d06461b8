{{/* Name of all objects. The API server of the garden calls the Service of this name. */}}
{{- define "shoot-flux-admission.name" -}}
shoot-flux-admission
{{- end -}}

{{/* Name of the Secret with the certificates. */}}
{{- define "shoot-flux-admission.secretName" -}}
shoot-flux-admission-certificates
{{- end -}}

{{/* Name of the Service, as API servers call it. */}}
{{- define "shoot-flux-admission.host" -}}
{{- printf "%s.%s.svc" (include "shoot-flux-admission.name" .) .Release.Namespace -}}
{{- end -}}

{{/* The configuration file. */}}
{{- define "shoot-flux-admission.config" -}}
{{- $config := dict "port" 8080 "webhookPort" 8443 "webhookFunction" (list "admission" "push-webhook") -}}
{{- with include "shoot-flux.landscapeValue" (dict "root" $ "name" "defaults") | fromYaml }}{{ $_ := set $config "defaults" . }}{{ end -}}
{{- with include "shoot-flux.landscapeValue" (dict "root" $ "name" "policy") | fromYaml }}{{ $_ := set $config "policy" . }}{{ end -}}
{{- with include "shoot-flux.landscapeValue" (dict "root" $ "name" "addons") | fromYaml }}{{ $_ := set $config "addons" . }}{{ end -}}
{{- if .Values.garden.inCluster }}{{ $_ := set $config "garden" "in-cluster" }}{{ end -}}
{{- if .Values.garden.kubeconfigSecretName }}{{ $_ := set $config "garden" "/etc/shoot-flux/kubeconfigs/garden/kubeconfig" }}{{ end -}}
{{- $_ := set $config "webhookConfiguration" (.Files.Get "webhooks.yaml" | fromYaml).configuration -}}
{{- if eq .Values.certificates "cert-manager" -}}
{{- $_ := set $config "webhookCert" "/etc/shoot-flux/certificates/tls.crt" -}}
{{- $_ := set $config "webhookKey" "/etc/shoot-flux/certificates/tls.key" -}}
{{- $_ := set $config "webhookCa" "/etc/shoot-flux/certificates/ca.crt" -}}
{{- else -}}
{{- $_ := set $config "webhookHost" (list (include "shoot-flux-admission.host" .)) -}}
{{- $_ := set $config "webhookSecret" (printf "in-cluster:%s/%s" .Release.Namespace (include "shoot-flux-admission.secretName" .)) -}}
{{- end -}}
{{- toYaml (mustMergeOverwrite $config (deepCopy .Values.config)) -}}
{{- end -}}

{{/* Labels of all objects. */}}
{{- define "shoot-flux-admission.runtimeLabels" -}}
{{ include "shoot-flux.labels" . }}
app.kubernetes.io/component: admission
{{- end -}}

{{/* What Helm prints after an installation. */}}
{{- define "shoot-flux-admission.notes" -}}
shoot-flux-admission {{ .Chart.AppVersion }} answers the API server of the garden, which asks it about each Shoot with the extension shoot-flux. Until a Pod is ready, these Shoots are rejected:

  kubectl --namespace {{ .Release.Namespace }} rollout status deployment {{ include "shoot-flux-admission.name" . }}
{{- end -}}
