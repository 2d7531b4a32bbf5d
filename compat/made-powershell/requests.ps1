$session = New-Object Microsoft.PowerShell.Commands.WebRequestSession
$session.UserAgent = "Mozilla/5.0"
Invoke-WebRequest -UseBasicParsing -Uri "http://127.0.0.1:8765/orders?x=1" `
-Method "POST" `
-WebSession $session `
-Headers @{
"Accept"="*/*"
  "X-Price"="`$5"
} `
-ContentType "application/json" `
-Body "{`"sku`":`"a1`",`"name`":`"caf$([char]233)`"}"
Invoke-RestMethod -Uri 'http://127.0.0.1:8765/items/7' -Method Delete
