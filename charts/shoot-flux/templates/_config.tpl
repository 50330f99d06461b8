{{/* The configuration file as a dictionary: what follows from other values, overwritten by `config`. */}}
{{- define "shoot-flux.config" -}}
{{- $config := dict "port" 8080 "seeds" (dict) -}}
{{- with .Values.kubeconfigs.garden.secretName }}{{ $_ := set $config "garden" "/etc/shoot-flux/kubeconfigs/garden/kubeconfig" }}{{ end -}}
{{- with ((.Values.gardener).garden).clusterIdentity }}{{ $_ := set $config "gardenIdentity" . }}{{ end -}}
{{- if hasKey .Values.kubeconfigs.seeds "garden" }}{{ fail "kubeconfigs.seeds.garden: a seed cannot be called garden; the kubeconfig of the garden is kubeconfigs.garden" }}{{ end -}}
{{- range $name, $seed := .Values.kubeconfigs.seeds -}}
{{- $_ := set $config.seeds $name (ternary "in-cluster" (printf "/etc/shoot-flux/kubeconfigs/%s/kubeconfig" $name) (default false $seed.inCluster)) -}}
{{- else -}}
{{- with ((.Values.gardener).seed).name }}{{ $_ := set $config.seeds . "in-cluster" }}{{ end -}}
{{- end -}}
{{- if not $config.seeds }}{{ $_ := unset $config "seeds" }}{{ end -}}
{{- if eq .Values.mode "embedded" }}{{ $_ := set $config "fluxDistribution" "/flux-distribution" }}{{ end -}}
{{- if eq .Values.mode "bridge-sqs" -}}
{{- $_ := set $config "queuePrefix" (required "mode bridge-sqs needs sqs.queuePrefix, the prefix of the queues" .Values.sqs.queuePrefix) -}}
{{- with .Values.sqs.endpoint }}{{ $_ := set $config "sqsEndpoint" . }}{{ end -}}
{{- end -}}
{{- if eq .Values.mode "bridge-knative" -}}
{{- $_ := set $config "eventsPort" 8081 -}}
{{- with .Values.knative.sink }}{{ $_ := set $config "sink" . }}{{ end -}}
{{- end -}}
{{- with include "shoot-flux.landscapeValue" (dict "root" $ "name" "defaults") | fromYaml }}{{ $_ := set $config "defaults" . }}{{ end -}}
{{- with include "shoot-flux.landscapeValue" (dict "root" $ "name" "policy") | fromYaml }}{{ $_ := set $config "policy" . }}{{ end -}}
{{- with include "shoot-flux.landscapeValue" (dict "root" $ "name" "rollout") | fromYaml }}{{ $_ := set $config "rollout" . }}{{ end -}}
{{- with include "shoot-flux.landscapeValue" (dict "root" $ "name" "addons") | fromYaml }}{{ $_ := set $config "addons" . }}{{ end -}}
{{- range $key, $value := dict "queuePrefix" "sqs.queuePrefix" "sqsEndpoint" "sqs.endpoint" -}}
{{- if hasKey $.Values.config $key -}}
{{- fail (ternary (printf "config.%s: in mode bridge-sqs set %s instead" $key $value) (printf "config.%s: mode %s has no queues; remove it" $key $.Values.mode) (eq $.Values.mode "bridge-sqs")) -}}
{{- end -}}
{{- end -}}
{{- $config = mustMergeOverwrite $config (deepCopy .Values.config) -}}
{{- if and $config.shootHealth (not $config.namespaces) -}}
{{- $namespaces := dict -}}
{{- range $name, $source := $config.seeds }}{{ if ne $source "in-cluster" }}{{ $_ := set $namespaces $name $.Release.Namespace }}{{ end }}{{ end -}}
{{- with $namespaces }}{{ $_ := set $config "namespaces" . }}{{ end -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{/* Volumes of a Pod that reads the configuration and calls clusters: `include … (dict "root" $)`. */}}
{{- define "shoot-flux.volumes" -}}
- name: config
  configMap:
    name: {{ include "shoot-flux.fullname" .root }}
- name: api-access
  projected:
    sources:
      - serviceAccountToken:
          path: token
          expirationSeconds: 43200
      - configMap:
          name: kube-root-ca.crt
          items:
            - key: ca.crt
              path: ca.crt
      - downwardAPI:
          items:
            - path: namespace
              fieldRef:
                fieldPath: metadata.namespace
{{- include "shoot-flux.gardenAccess.volume" .root }}
{{- range $name, $seed := .root.Values.kubeconfigs.seeds }}
{{- if not $seed.inCluster }}
- name: seed-{{ $name | sha256sum | trunc 12 }}
  secret:
    secretName: {{ required (printf "kubeconfigs.seeds.%s needs secretName or inCluster: true" $name) $seed.secretName }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The mounts of these volumes. */}}
{{- define "shoot-flux.volumeMounts" -}}
- name: config
  mountPath: /etc/shoot-flux/config.yaml
  subPath: config.yaml
  readOnly: true
- name: api-access
  mountPath: /var/run/secrets/kubernetes.io/serviceaccount
  readOnly: true
{{- include "shoot-flux.gardenAccess.mount" .root }}
{{- range $name, $seed := .root.Values.kubeconfigs.seeds }}
{{- if not $seed.inCluster }}
- name: seed-{{ $name | sha256sum | trunc 12 }}
  mountPath: /etc/shoot-flux/kubeconfigs/{{ $name }}
  readOnly: true
{{- end }}
{{- end }}
{{- end -}}
