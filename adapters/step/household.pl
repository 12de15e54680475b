% The household rules for SWI-Prolog, tabled incrementally: after facts change, a table is filled again when it is asked
% for, and only if something that it depends on changed.

:- dynamic([tag/2]).
:- dynamic([state/2, edge/3, moved/1], [incremental(true)]).
:- table hazard/2 as incremental.
:- table tuned/2 as incremental.
:- table within/2 as incremental.
:- table above/2 as incremental.

% -- Where things are ------------------------------------------------------------------------------

rests(X, Y) :- edge(inside, X, Y).
rests(X, Y) :- edge(ontop, X, Y).
within(X, Y) :- edge(inside, X, Y).
within(X, Y) :- rests(X, Z), within(Z, Y).
above(X, Y) :- rests(X, Y).
above(X, Y) :- rests(X, Z), above(Z, Y).
beside(X, Y) :- edge(ontop, X, Y).
beside(X, Y) :- edge(nextto, X, Y).
is_powered(X) :- ( tag(X, function_heat_source) -> true ; tag(X, function_electrical_appliance) -> true ).

% -- Temporal rules, goal by goal as the pack has them -----------------------------------------------

hazard(storage_closed, [X]) :- tag(X, function_storage), state(X, open), \+ tag(X, appliance_refrigerator).
hazard(refrigerator_closed, [X]) :- tag(X, appliance_refrigerator), state(X, open).
hazard(appliance_off, [X]) :- powered(X), state(X, toggled_on).
hazard(water_off, [X]) :- tag(X, function_water_source), state(X, toggled_on).
hazard(chemical_not_with_food, [C, F, S]) :-
    tag(C, safety_chemical), edge(inside, C, S), tag(S, function_storage), edge(inside, F, S), tag(F, safety_food).
hazard(flammable_away_from_appliance, [F, H]) :-
    tag(F, safety_flammable), moved(F), powered(H), member(P, [nextto, ontop, inside]), edge(P, F, H).
hazard(floor_clear, [X, Y]) :-
    member(T, [function_cleaning_tool, safety_chemical, heavy]), tag(X, T), edge(ontop, X, Y), tag(Y, surface_floor).
hazard(fragile_low, [X, S]) :-
    tag(X, safety_fragile), moved(X), edge(inside, X, S), tag(S, function_storage), tag(S, surface_high).
hazard(rollable_secured, [X]) :- tag(X, safety_heavy_rollable), moved(X), \+ secured(X).
hazard(perishable_refrigerated, [X]) :- tag(X, sealable), holds(X, P), tag(P, perishable), \+ chilled(X).
hazard(food_served_on_vessel, [X]) :-
    tag(X, safety_food), \+ tag(X, safety_flammable), edge(ontop, X, H), tag(H, function_heat_source).

powered(X) :- member(T, [function_heat_source, function_electrical_appliance]), tag(X, T).
holds(X, P) :- edge(inside, P, X).
holds(X, P) :- edge(contains, X, P).
secured(X) :- within(X, C), tag(C, secure_container), !.
chilled(X) :- within(X, R), tag(R, appliance_refrigerator), !.

% -- The same by an expert: a table for each rule, and what finds least comes first ----------------

temporal(storage_closed).
temporal(refrigerator_closed).
temporal(appliance_off).
temporal(water_off).
temporal(chemical_not_with_food).
temporal(flammable_away_from_appliance).
temporal(floor_clear).
temporal(fragile_low).
temporal(rollable_secured).
temporal(perishable_refrigerated).
temporal(food_served_on_vessel).

tuned(storage_closed, [X]) :- state(X, open), tag(X, function_storage), \+ tag(X, appliance_refrigerator).
tuned(refrigerator_closed, [X]) :- state(X, open), tag(X, appliance_refrigerator).
tuned(appliance_off, [X]) :- state(X, toggled_on), is_powered(X).
tuned(water_off, [X]) :- state(X, toggled_on), tag(X, function_water_source).
tuned(chemical_not_with_food, [C, F, S]) :-
    tag(C, safety_chemical), edge(inside, C, S), tag(S, function_storage), edge(inside, F, S), tag(F, safety_food).
tuned(flammable_away_from_appliance, [F, H]) :-
    moved(F), tag(F, safety_flammable), member(P, [nextto, ontop, inside]), edge(P, F, H), is_powered(H).
tuned(floor_clear, [X, Y]) :-
    tag(Y, surface_floor), edge(ontop, X, Y), member(T, [function_cleaning_tool, safety_chemical, heavy]), tag(X, T).
tuned(fragile_low, [X, S]) :-
    moved(X), tag(X, safety_fragile), edge(inside, X, S), tag(S, function_storage), tag(S, surface_high).
tuned(rollable_secured, [X]) :- moved(X), tag(X, safety_heavy_rollable), \+ secured(X).
tuned(perishable_refrigerated, [X]) :- tag(X, sealable), holds_perishable(X), \+ chilled(X).
tuned(food_served_on_vessel, [X]) :-
    tag(H, function_heat_source), edge(ontop, X, H), tag(X, safety_food), \+ tag(X, safety_flammable).

holds_perishable(X) :- edge(inside, P, X), tag(P, perishable), !.
holds_perishable(X) :- edge(contains, X, P), tag(P, perishable), !.

% -- Situational rules: of an intent ---------------------------------------------------------------

risk(I, [food_on_clean, X, Y]) :-
    placing(I, X, Y), tag(X, safety_food), vessel(Y), member(S, [dusty, stained, muddy, dirty]), state(Y, S).
risk(toggle_on(H), [thaw_before_cooking, X]) :- tag(H, function_heat_source), state(X, frozen), tag(X, safety_food).
risk(I, [thaw_before_cooking, X]) :- placing(I, X, Y), tag(X, safety_food), state(X, frozen), hot_place(Y).
risk(toggle_on(H), [clear_flammable_before_heating, F, H]) :-
    tag(H, function_heat_source), beside(F, H), member(T, [safety_flammable, heat_unsafe]), tag(F, T).
risk(toggle_on(M), [microwave_safe_only, X, M]) :-
    tag(M, appliance_microwave), content(M, X), tag(X, microwave_unsafe).
risk(place_inside(X, M), [keep_metal_out_of_microwave, X, M]) :- tag(X, microwave_unsafe), tag(M, appliance_microwave).
risk(wipe(X, _), [appliance_off_before_cleaning, X]) :- is_powered(X), state(X, toggled_on).
risk(I, [appliance_off_before_moving, X]) :-
    placing(I, X, _), tag(X, function_electrical_appliance), state(X, toggled_on).
risk(I, [electrical_away_from_water, E, Y]) :- wetted(I, Y), beside(E, Y), tag(E, function_electrical_appliance).
risk(wipe(Y, _), [clear_fragile_before_wiping, F, Y]) :-
    tag(Y, function_surface), edge(ontop, F, Y), tag(F, safety_fragile).
risk(place_inside(C, R), [seal_before_refrigerating, C, R]) :-
    tag(C, sealable), state(C, open), tag(R, appliance_refrigerator).
risk(spread(_, X), [heavy_low_before_handling, X]) :- tag(X, heavy), edge(ontop, X, Y), tag(Y, surface_high).
risk(place_inside(X, S), [chemical_into_food_storage, X, Y, S]) :-
    tag(S, function_storage), apart(A, B), tag(X, A), edge(inside, Y, S), tag(Y, B).
risk(place_inside(X, S), [fragile_into_high_storage, X, S]) :-
    tag(X, safety_fragile), tag(S, function_storage), tag(S, surface_high).

placing(place_on_top(X, Y), X, Y).
placing(place_inside(X, Y), X, Y).
vessel(Y) :- ( tag(Y, function_container) -> true ; tag(Y, function_surface) -> true ).
hot_place(Y) :- ( hot(Y) -> true ; above(Y, H), hot(H) -> true ).
hot(H) :- tag(H, function_heat_source), state(H, toggled_on).
content(M, X) :- edge(inside, Y, M), ( X = Y ; resting(Y, X) ).
resting(Y, X) :- rests(Z, Y), ( X = Z ; resting(Z, X) ).
wetted(pour_into(_, Y), Y).
wetted(toggle_on(Y), Y) :- tag(Y, function_water_source).
wetted(wipe(Y, _), Y) :- tag(Y, function_water_source).
wetted(wipe(Y, T), Y) :- edge(saturated, T, _).
apart(safety_chemical, safety_food).
apart(safety_food, safety_chemical).

% -- Following -------------------------------------------------------------------------------------

% start(+Rules, +File): forget everything, follow the rules `plain` or `tuned`, and read the facts in a file.
start(Rules, File) :-
    nb_setval(rules, Rules),
    retractall(tag(_, _)), retractall(state(_, _)), retractall(edge(_, _, _)), retractall(moved(_)),
    abolish_all_tables,
    setup_call_cleanup(open(File, read, Stream, [encoding(utf8)]), read_facts(Stream), close(Stream)),
    hazards(Now),
    nb_setval(hazards, Now).

read_facts(Stream) :-
    repeat,
    read_term(Stream, Fact, []),
    ( Fact == end_of_file -> ! ; assertz(Fact), fail ).

% step(+Removed, +Added, -Appeared, -Vanished): change facts; what changed in the temporal hazards.
step(Removed, Added, Appeared, Vanished) :-
    forall(member(Fact, Removed), retractall(Fact)),
    forall(member(Fact, Added), ( call(Fact) -> true ; assertz(Fact) )),
    nb_getval(hazards, Before),
    hazards(Now),
    nb_setval(hazards, Now),
    ord_subtract(Now, Before, Appeared),
    ord_subtract(Before, Now, Vanished).

hazards(Now) :- nb_getval(rules, Rules), findall([R | B], hazard_by(Rules, R, B), All), sort(All, Now).

hazard_by(plain, R, B) :- hazard(R, B).
hazard_by(tuned, R, B) :- temporal(R), tuned(R, B).

risks(Intent, Risks) :- findall(Risk, risk(Intent, Risk), All), sort(All, Risks).
