// A choice of versions beside the title. ../versions.json lists the folders of the site; without it there is no choice.
(function () {
  var here = new URL(typeof path_to_root === 'string' && path_to_root ? path_to_root : './', location.href);
  fetch(new URL('../versions.json', here))
    .then(function (answer) { return answer.ok ? answer.json() : []; })
    .then(function (versions) {
      var current = here.pathname.split('/').filter(Boolean).pop();
      if (versions.indexOf(current) < 0) return;
      var choice = document.createElement('select');
      choice.className = 'version';
      choice.setAttribute('aria-label', 'Version');
      versions.forEach(function (version) {
        choice.add(new Option(version, version, false, version === current));
      });
      choice.addEventListener('change', function () {
        var page = location.href.slice(here.href.length);
        var same = new URL('../' + choice.value + '/' + page, here);
        fetch(same, { method: 'HEAD' }).then(function (answer) {
          location.href = answer.ok ? same : new URL('../' + choice.value + '/', here);
        });
      });
      document.querySelector('.left-buttons').append(choice);
    })
    .catch(function () {});
})();
