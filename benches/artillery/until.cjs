// Ends a user's loop after the variable `seconds`, counted from the user's start.
module.exports = {
  goOn: (context, done) => {
    context.vars.end ??= Date.now() + context.vars.seconds * 1000;
    done(Date.now() < context.vars.end);
  },
};
