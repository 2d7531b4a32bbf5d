{{- define "drumfire.labels" -}}
app.kubernetes.io/name: drumfire
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "drumfire.url" -}}
{{- .Values.nats.url | default (printf "tls://%s-nats:4222" .Release.Name) }}
{{- end }}

{{- define "drumfire.pod" -}}
serviceAccountName: {{ .Release.Name }}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "drumfire.closed" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}
