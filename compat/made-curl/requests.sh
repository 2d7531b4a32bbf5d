# Requests as browsers and documentation write them.
curl 'http://127.0.0.1:8765/search?q=a%20b&n=5' \
  -H 'Accept: application/json' \
  -H $'X-Note: it\'s \u00e9' \
  --compressed
curl -X PUT http://127.0.0.1:8765/items/7 -H 'Content-Type: application/json' --data-raw '{"name":"lamp","price":12.5,"path":"a\\b","env":"${HOME}"}'
curl -sSL -u ann:secret http://127.0.0.1:8765/basic
curl --json '{"a":1}' http://127.0.0.1:8765/json
curl -d 'a=1&b=two words' -d c=3 http://127.0.0.1:8765/form --next http://127.0.0.1:8765/next?x=1
curl -G --data-urlencode 'q=drum & fire' http://127.0.0.1:8765/find
curl -F 'about=a picture' -F 'file=@note.txt;type=text/plain' http://127.0.0.1:8765/files
curl -I http://127.0.0.1:8765/head
curl --data-binary @note.txt -H 'Content-Type: text/plain' http://127.0.0.1:8765/raw
curl -b 'shop=s1; lang=en' -A 'Probe 1.0' -e http://shop.example/from http://127.0.0.1:8765/cookies
